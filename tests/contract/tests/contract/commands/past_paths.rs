//! The paths by which people name what was there: also below what is a file now.

use crate::commands::past::now;
use crate::commands::world::World;

#[test]
fn what_lay_below_a_folder_that_is_a_file_now_is_found_by_its_path() {
    let world = World::new();
    world.login("a");
    world.json("a", &["mkdir", "/pic"]);
    world.write("p.jpg", "a picture");
    world.json("a", &["upload", "p.jpg", "--to", "/pic"]);
    let then = now(&world);
    world.json("a", &["rm", "/pic"]);
    world.write("pic", "a file");
    world.json("a", &["upload", "pic", "--to", "/"]);
    for (to, at) in [("one", &["--at", &then][..]), ("two", &[])] {
        let args = ["restore", "/pic/p.jpg", "--to", to];
        world.json("a", &[&args[..], at].concat());
        let copied = std::fs::read(world.path(to).join("p.jpg")).unwrap();
        assert_eq!(copied, b"a picture");
    }
    world
        .run("a", &["list", "/pic/p.jpg"])
        .assert_refused(2, &["pic is a file, not a folder"]);
}
