//! A file becomes a folder, or a folder a file.

use crate::scenario::rows;

rows! {
    s130_a_file_becomes_a_folder: "x=f", "rm x; mkdir x; x/in=1", "" => "x/in=1", swapped "x/in=1";
    s131_a_folder_becomes_a_file: "t/a=1 t/b=2", "rm t; t=f", "" => "t=f", swapped "t=f";
    s133_a_new_folder_meets_a_new_file: "", "Z/foo=1", "Z=B" => "Z/foo=1 CC(Z)=B", swapped "Z=B CC(Z)/foo=1";
    s135_a_folder_becomes_a_file_and_gets_a_child: "B/b1=1", "rm B; B=file", "B/zzz=z"
        => "B=file CC(B)/zzz=z", swapped "B/zzz=z CC(B)=file";
    s136_a_folder_becomes_a_file_and_a_child_leaves: "A/a1=1 A/a2=2", "rm A; A=file", "mv A/a1 a1"
        => "A=file a1=1", swapped "A=file a1=1";
    s138_a_folder_becomes_two_files: "d/c=1", "rm d; d=A", "rm d; d=BB" => "d=A CC(d)=BB", swapped "d=BB CC(d)=A";
    s140_a_folder_moves_and_becomes_a_file: "d/c=C", "mv d e", "rm d; d=F" => "e/c=C d=F", swapped "e/c=C d=F";
    s141_a_deleted_file_becomes_a_folder: "x=v1", "rm x", "rm x; x/inner=1" => "x/inner=1", swapped "x/inner=1";
    s143_a_file_becomes_a_folder_with_a_moved_file_in_it: "x=f y=Y", "rm x; mkdir x/sub; mv y x/sub/child", ""
        => "x/sub/child=Y", swapped "x/sub/child=Y", transfers 0;
    s080_a_folder_under_a_new_name: "x=1", "rm x; y/child=2", "" => "y/child=2", swapped "y/child=2";
    an_edited_file_against_a_folder: "x=v1", "x=edited", "rm x; x/in=1" => "x=edited CC(x)/in=1", swapped "x/in=1 CC(x)=edited";
    file_and_folder_trade_names: "f=1 d/g=2", "mv f t; mv d f; mv t d", "d/g=22" => "d=1 f/g=22", swapped "d=1 f/g=22";
}
