//! The search for a cut where the processor computes AES: in one call of the cipher's code for this
//! processor, so that digests and ciphertexts stay in registers. It rolls the hash of one place while it encrypts
//! that of another.

use super::{Chunker, WINDOW, block_of, first_word};
use aes::Block;
use aes::cipher::consts::U16;
use aes::cipher::{
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt as _, BlockSizeUser,
};

/// Places that are hashed side by side: rolling is a chain of operations that wait for one another.
const LANES: usize = 2;
/// Lengths that one of them covers at a time.
const STRIDE: usize = 3840;

/// Returns the first length of `data`, from `from` on and below its own, at which a cut is made.
pub(super) fn first_cut(chunker: &Chunker, data: &[u8], from: usize, mask: u64) -> Option<usize> {
    let mut found = None;
    let search = Search {
        chunker,
        data,
        from,
        mask,
        found: &mut found,
    };
    chunker.aes.encrypt_with_backend(search);
    found
}

struct Search<'a> {
    chunker: &'a Chunker,
    data: &'a [u8],
    from: usize,
    mask: u64,
    found: &'a mut Option<usize>,
}

impl BlockSizeUser for Search<'_> {
    type BlockSize = U16;
}

impl BlockCipherEncClosure for Search<'_> {
    // Without this, each encryption is a call: the caller alone may use the processor's instructions.
    #[inline(always)]
    fn call<B: BlockCipherEncBackend<BlockSize = U16>>(self, backend: &B) {
        let encrypt = |digest: u64| {
            let (input, mut output) = (block_of(digest), Block::default());
            backend.encrypt_block((&input, &mut output).into());
            first_word(&output)
        };
        let mut at = self.from;
        while self.data.len() - at >= LANES * STRIDE {
            let found = self.first_in_lanes(at, encrypt);
            if found.is_some() {
                *self.found = found;
                return;
            }
            at += LANES * STRIDE;
        }
        let mut digest = self.chunker.digest(&self.data[at - WINDOW..at]);
        let bytes = self.data[at - WINDOW..].iter().zip(&self.data[at..]);
        for (length, (&leaving, &entering)) in (at..).zip(bytes) {
            if encrypt(digest) & self.mask == 0 {
                *self.found = Some(length);
                return;
            }
            digest = self.chunker.roll(digest, leaving, entering);
        }
    }
}

impl Search<'_> {
    /// Looks at `LANES * STRIDE` lengths from `from` on.
    #[inline(always)]
    fn first_in_lanes(&self, from: usize, encrypt: impl Fn(u64) -> u64) -> Option<usize> {
        let starts: [usize; LANES] = std::array::from_fn(|lane| from + lane * STRIDE);
        let mut digests = starts.map(|at| self.chunker.digest(&self.data[at - WINDOW..at]));
        let leaving = starts.map(|at| stride(self.data, at - WINDOW));
        let entering = starts.map(|at| stride(self.data, at));
        let mut found = [None; LANES];
        for i in 0..STRIDE {
            for lane in 0..LANES {
                if encrypt(digests[lane]) & self.mask == 0 {
                    found[lane] = found[lane].or(Some(starts[lane] + i));
                }
                let (out, next) = (leaving[lane][i], entering[lane][i]);
                digests[lane] = self.chunker.roll(digests[lane], out, next);
            }
            if found[0].is_some() {
                break;
            }
        }
        found.into_iter().flatten().next()
    }
}

/// The bytes of one lane.
fn stride(data: &[u8], at: usize) -> &[u8; STRIDE] {
    data[at..]
        .first_chunk()
        .expect("all lanes end before the data does")
}
