//! Shrunk random histories that once broke a property.
//!
//! The numbers choose among what is there, as in the random histories.

use crate::history::Act::{self, Create, Delete, Edit, Mkdir, Move, ReplaceType, Swap};
use crate::properties::{bring_together, die_after};

/// Base, first device's acts, second device's acts, and after which steps which device dies.
fn lives(base: &[Act], a: &[Act], b: &[Act], cuts: &[(bool, u8)]) {
    bring_together(base, a, b, |pair| {
        for &(first, steps) in cuts {
            let device = if first {
                &mut pair.first
            } else {
                &mut pair.second
            };
            die_after(device, &mut pair.service, steps);
        }
    });
}

#[test]
fn a_child_of_an_unlinked_folder_is_not_taken_for_moved() {
    let base = [
        Create(0, 16),
        Mkdir(0, 6),
        Create(0, 19),
        Create(0, 80),
        Create(29, 0),
    ];
    let cuts = [(true, 35), (false, 0), (false, 8)];
    lives(
        &base,
        &[Delete(1), ReplaceType(0)],
        &[Move(82, 151, 1)],
        &cuts,
    );
}

#[test]
fn a_file_made_anew_in_another_spelling_survives_a_crash() {
    let base = [Mkdir(0, 104), Create(8, 125)];
    let a = [Delete(0), Delete(0), Create(0, 226), Create(0, 62)];
    lives(&base, &a, &[], &[(true, 61)]);
}

#[test]
fn an_edit_meets_an_interrupted_swap() {
    let base = [Create(0, 13), Mkdir(0, 10), Mkdir(0, 222), Create(0, 80)];
    let b = [Swap(124, 91), Edit(5), Mkdir(0, 0)];
    lives(
        &base,
        &[Create(0, 0), Edit(6)],
        &b,
        &[(false, 16), (false, 20)],
    );
}

#[test]
fn a_temporary_name_is_followed_and_its_device_dies_again() {
    let base = [
        Create(0, 33),
        Create(0, 4),
        Mkdir(0, 92),
        Mkdir(73, 0),
        Mkdir(32, 9),
    ];
    let base = [&base[..], &[Create(42, 0), Create(0, 114), Mkdir(10, 182)]].concat();
    let b = [Swap(121, 5), Delete(148), Edit(39), Move(52, 223, 253)];
    let cuts = [(false, 129), (true, 8), (false, 66)];
    lives(&base, &[Move(53, 39, 43), Edit(125)], &b, &cuts);
}

#[test]
fn a_swap_out_of_a_folder_that_is_deleted_is_interrupted() {
    let base = [
        Mkdir(0, 90),
        Mkdir(36, 1),
        Mkdir(79, 78),
        Create(0, 104),
        Create(21, 7),
    ];
    let base = [&base[..], &[Move(143, 126, 204), Create(103, 16)]].concat();
    let a = [
        ReplaceType(165),
        Swap(86, 181),
        Move(5, 98, 30),
        Delete(48),
        Move(150, 3, 138),
    ];
    lives(&base, &a, &[], &[(true, 225)]);
}

#[test]
fn a_folder_under_a_temporary_name_is_made_here_anew() {
    let base = [Mkdir(0, 42), Mkdir(181, 0), Mkdir(118, 52), Create(59, 0)];
    let b = [Create(86, 0), Swap(111, 157), Move(5, 88, 1)];
    lives(&base, &[ReplaceType(28)], &b, &[(false, 104)]);
}

#[test]
fn a_cycle_across_devices_meets_an_interrupted_swap() {
    let base = [
        Mkdir(0, 9),
        Mkdir(0, 130),
        Mkdir(11, 0),
        Mkdir(28, 48),
        Move(245, 36, 0),
        Create(0, 13),
    ];
    let a = [Create(0, 76), Swap(141, 8), Delete(137), Edit(0)];
    let b = [Mkdir(1, 0), Move(2, 253, 1), Edit(0)];
    lives(&base, &a, &b, &[(true, 17), (false, 183)]);
}

#[test]
fn a_temporary_name_that_all_took_for_the_truth_is_undone() {
    let base = [
        Create(0, 34),
        Mkdir(0, 0),
        Move(5, 36, 19),
        Mkdir(162, 152),
        Mkdir(68, 7),
    ];
    let base = [&base[..], &[Create(26, 2), Create(106, 93), Mkdir(71, 0)]].concat();
    let a = [
        Swap(25, 216),
        Move(210, 197, 186),
        Edit(100),
        ReplaceType(189),
        Mkdir(88, 0),
    ];
    lives(
        &base,
        &a,
        &[Mkdir(2, 0), Edit(199)],
        &[(true, 91), (false, 1)],
    );
}
