//! The vectors of the design, and what makes a cut.

use super::*;

/// The keystream of AES-256-CTR under a key, from its start.
pub(super) fn keystream(key: [u8; 32], length: usize) -> Vec<u8> {
    let mut out = vec![0; length];
    ctr::Ctr128BE::<Aes256>::new(&key.into(), &[0; 16].into()).apply_keystream(&mut out);
    out
}

pub(super) fn counting_key() -> [u8; 32] {
    std::array::from_fn(|i| i as u8)
}

pub(super) fn lengths(mut data: &[u8], cut: impl Fn(&[u8]) -> Option<usize>) -> Vec<usize> {
    let mut lengths = Vec::new();
    while let Some(length) = cut(data) {
        lengths.push(length);
        data = &data[length..];
    }
    lengths
}

fn cuts(chunker: &Chunker, data: &[u8]) -> Vec<usize> {
    lengths(data, |rest| chunker.cut(rest, true))
}

#[test]
fn the_digest_and_its_encryption_are_those_of_the_vectors() {
    let chunker = Chunker::from_key(&counting_key());
    let window: Vec<u8> = (0..64).collect();
    let digest = chunker.digest(&window);
    assert_eq!(digest, 0x82f0_401f_abaa_a568);
    let mut block = block_of(digest);
    chunker.aes.encrypt_block(&mut block);
    assert_eq!(hex::encode(block), "5d4698455f372bf5d0d3d0528c878744");
}

#[test]
fn six_mebibytes_are_cut_as_the_vectors_say() {
    let chunker = Chunker::from_key(&counting_key());
    let data = keystream([0xaa; 32], 6 << 20);
    let expected = [
        1_052_937, 1_119_635, 658_543, 1_189_513, 897_324, 1_123_768, 249_736,
    ];
    assert_eq!(cuts(&chunker, &data), expected);
}

#[test]
fn the_first_candidate_is_the_shortest_length_itself() {
    let chunker = Chunker::from_key(&counting_key());
    let window = &keystream([0xbb; 32], 3_168_893)[3_168_829..];
    assert_eq!(chunker.digest(window), 0xcdd8_efe8_ef67_b71d);
    let mut data = vec![0; MIN_CHUNK - WINDOW];
    data.extend_from_slice(window);
    data.resize(2 * MIN_CHUNK, 0);
    assert_eq!(cuts(&chunker, &data), [MIN_CHUNK, MIN_CHUNK]);
}

#[test]
fn rolling_equals_hashing_the_window_anew() {
    let chunker = Chunker::from_key(&counting_key());
    let data = keystream([0xcc; 32], 1000);
    let mut digest = chunker.digest(&data[..WINDOW]);
    for at in WINDOW..data.len() {
        digest = chunker.roll(digest, data[at - WINDOW], data[at]);
        assert_eq!(digest, chunker.digest(&data[at + 1 - WINDOW..=at]), "{at}");
    }
}

#[test]
fn lanes_and_batches_find_what_single_steps_find() {
    let chunker = Chunker::from_key(&[3; 32]);
    let data = keystream([0xdd; 32], MIN_CHUNK + 20_000);
    // Masks of few bits, so that there are hits in every place of a lane and a batch.
    let masks = [31, 511, 8191, 32_767].into_iter().cycle();
    for (from, mask) in (MIN_CHUNK..data.len()).step_by(97).zip(masks) {
        let one = (from..data.len()).find(|&at| {
            let mut block = block_of(chunker.digest(&data[at - WINDOW..at]));
            chunker.aes.encrypt_block(&mut block);
            first_word(&block) & mask == 0
        });
        assert_eq!(search::first_cut(&chunker, &data, from, mask), one);
        assert_eq!(chunker.first_cut_in_batches(&data, from, mask), one);
    }
}

#[test]
fn lengths_are_within_their_bounds_however_a_file_was_read() {
    let chunker = Chunker::from_key(&[4; 32]);
    for length in [0, 1, MIN_CHUNK - 1, MIN_CHUNK] {
        let whole = (length > 0).then_some(length);
        assert_eq!(chunker.cut(&vec![7; length], true), whole);
    }
    // A constant file has one window: it is cut at once or at the longest length.
    assert_eq!(cuts(&chunker, &vec![7; MAX_CHUNK + 5]), [MAX_CHUNK, 5]);
    let data = keystream([0xee; 32], 3 * MAX_CHUNK);
    assert_eq!(chunker.cut(&data[..MAX_CHUNK - 1], false), None);
    let first = chunker.cut(&data, true).unwrap();
    assert_eq!(chunker.cut(&data[..MAX_CHUNK], false), Some(first));
    assert_eq!(chunker.cut(&data[..first], true), Some(first));
}

#[test]
fn cuts_stay_near_the_target_and_differ_between_keys() {
    let data = keystream([0xcd; 32], 64 << 20);
    let mine = cuts(&Chunker::from_key(&[6; 32]), &data);
    let (last, whole) = mine.split_last().unwrap();
    let is_in_bounds = |length: &usize| (MIN_CHUNK..=MAX_CHUNK).contains(length);
    assert!(*last > 0 && whole.iter().all(is_in_bounds));
    assert_eq!(mine.iter().sum::<usize>(), data.len());
    // The mean bounds the number of chunks, and so the lengths of lists and requests.
    let mean = data.len() / mine.len();
    let target = NORMAL_CHUNK;
    assert!((target * 3 / 4..target * 5 / 4).contains(&mean), "{mean}");
    let is_near = |length: &&usize| (target / 2..target * 2).contains(*length);
    let near = whole.iter().filter(is_near).count();
    assert!(near * 10 >= whole.len() * 8, "{whole:?}");
    let other = cuts(&Chunker::from_key(&[7; 32]), &data);
    assert!(mine[0] != other[0] && mine[1] != other[1]);
}

#[test]
fn an_insertion_moves_few_cuts() {
    let chunker = Chunker::from_key(&[5; 32]);
    let data = keystream([0xab; 32], 24 << 20);
    let mut edited = data.clone();
    edited.splice(1000..1000, [1, 2, 3]);
    let ends = |data: &[u8]| {
        let mut end = data.len();
        let from_end = cuts(&chunker, data).into_iter().map(|length| {
            end -= length;
            end
        });
        from_end.collect::<std::collections::BTreeSet<_>>()
    };
    let (before, after) = (ends(&data), ends(&edited));
    assert!(before.intersection(&after).count() + 3 > before.len());
}
