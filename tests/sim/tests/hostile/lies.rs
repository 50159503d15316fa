//! False responses that no device accepts, strict (only authenticated changes) or not.

use super::*;

#[test]
fn an_honest_server_is_never_accused() {
    simulate(async {
        let world = world().await;
        about_nodes(&world.devices[1], |_| {});
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v2"));
        assert_eq!(problems(&world.devices[1]), []);
    });
}

#[test]
fn a_past_state_served_as_the_present_one_is_refused() {
    simulate(async {
        let world = world().await;
        let seen: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
        let remember = Arc::clone(&seen);
        about_nodes(&world.devices[1], move |node| {
            let name = node["name"].as_str().unwrap_or_default().to_owned();
            let mut seen = remember.lock().expect("no panic");
            seen.entry(name).or_insert_with(|| json!(node));
        });
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        world.devices[0].write("f", b"v3");
        pass(&world).await;
        assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v3"));

        about_nodes(&world.devices[1], move |node| {
            if node["name"] == "f" {
                let version = node["version"].clone();
                *node = seen.lock().expect("no panic")["f"]
                    .as_object()
                    .expect("a node")
                    .clone();
                node["version"] = version;
            }
        });
        world.devices[0].write("f", b"v4");
        world.devices[0].write("new", b"new");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f").as_deref(), Some("v3"));
        assert_eq!(content(victim, "new").as_deref(), Some("new"));
        assert_eq!(problems(victim), [(ProblemCode::Rollback, "f".into())]);

        victim.line.lie(None);
        world.devices[0].write("f", b"v5");
        pass(&world).await;
        assert_eq!(content(victim, "f").as_deref(), Some("v5"));
        assert_eq!(problems(victim), []);
    });
}

#[test]
fn a_count_of_changes_that_cannot_be_is_refused() {
    simulate(async {
        let world = world().await;
        about_nodes(&world.devices[1], |node| {
            if node["name"] == "f" {
                node["version"] = json!(i64::MAX);
            }
        });
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f").as_deref(), Some("v1"));
        assert_eq!(problems(victim), [(ProblemCode::Impossible, "f".into())]);

        victim.line.lie(None);
        world.devices[0].write("f", b"v3");
        pass(&world).await;
        assert_eq!(content(victim, "f").as_deref(), Some("v3"));
        assert_eq!(problems(victim), []);
    });
}

#[test]
fn the_content_of_another_file_under_the_same_revision_is_refused() {
    simulate(async {
        let world = world().await;
        let seen: Arc<Mutex<BTreeMap<String, Value>>> = Arc::default();
        let remember = Arc::clone(&seen);
        about_nodes(&world.devices[1], move |node| {
            let name = node["name"].as_str().unwrap_or_default().to_owned();
            let mut seen = remember.lock().expect("no panic");
            seen.insert(name, json!(node));
        });
        world.devices[0].write("f", b"v2");
        world.devices[0].write("other", b"other, v2");
        pass(&world).await;

        // The next change of the feed announces `f` again, as a copy of `other`.
        about_nodes(&world.devices[1], move |node| {
            if node["name"] == "new" {
                let seen = seen.lock().expect("no panic");
                let (f, other) = (&seen["f"], &seen["other"]);
                let version = f["version"].as_u64().expect("a number") + 1;
                *node = f.as_object().expect("a node").clone();
                node["version"] = json!(version);
                let source = json!({"node_id": other["id"], "revision_id": other["revision_id"]});
                node.insert("content_source".to_owned(), source);
            }
        });
        world.devices[0].write("new", b"new");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(problems(victim), [(ProblemCode::Impossible, "f".into())]);
        assert_eq!(content(victim, "f").as_deref(), Some("v2"));

        victim.line.lie(None);
        victim.write("f", b"v3");
        pass(&world).await;
        pass(&world).await;
        assert_eq!(content(&world.devices[0], "f").as_deref(), Some("v3"));
    });
}

#[test]
fn an_old_deletion_served_as_the_present_state_is_refused() {
    simulate(async {
        let world = world().await;
        let deleted: Arc<Mutex<Option<Value>>> = Arc::default();
        let remember = Arc::clone(&deleted);
        about_json(&world.devices[1], CHANGES, move |page| {
            for change in page["changes"].as_array_mut().into_iter().flatten() {
                if change["kind"] == "trashed" {
                    *remember.lock().expect("no panic") = Some(change.clone());
                }
            }
        });
        let root = Path::new(ROOT);
        let path = root.join("f");
        world.devices[0]
            .disk
            .user(&path, true, |files| files.remove(&path))
            .expect("it is there");
        pass(&world).await;
        let trashed = deleted
            .lock()
            .expect("no panic")
            .clone()
            .expect("a deletion");
        let id = serde_json::from_value(trashed["node_id"].clone()).expect("an id");
        world
            .api
            .restore_node(id)
            .await
            .expect("it is in the trash");
        pass(&world).await;
        for text in [&b"v2"[..], b"v3"] {
            world.devices[0].write("f", text);
            pass(&world).await;
        }
        assert_eq!(content(&world.devices[1], "f").as_deref(), Some("v3"));

        about_json(&world.devices[1], CHANGES, move |page| {
            for change in page["changes"].as_array_mut().into_iter().flatten() {
                if change["node_id"] == trashed["node_id"] {
                    *change = trashed.clone();
                }
            }
        });
        world.devices[0].write("f", b"v4");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f").as_deref(), Some("v3"));
        assert_eq!(problems(victim), [(ProblemCode::Rollback, "f".into())]);
    });
}

#[test]
fn names_that_lead_elsewhere_are_refused_and_reported() {
    for name in [
        "../x",
        "/etc/x",
        "a/b",
        "a\0b",
        ".",
        "..",
        "",
        &"n".repeat(300),
    ] {
        simulate(async {
            let world = world().await;
            let served_name = name.to_owned();
            about_nodes(&world.devices[1], move |node| {
                if node["name"] == "evil" {
                    node["name"] = json!(served_name);
                }
            });
            world.devices[0].write("evil", b"evil");
            world.devices[0].write("good", b"good");
            pass(&world).await;
            let victim = &world.devices[1];
            assert_eq!(content(victim, "good").as_deref(), Some("good"), "{name:?}");
            let everything = victim.disk.look(|files| files.listing(Path::new("/")));
            let evil = Some(b"evil".to_vec());
            assert!(!everything.values().any(|bytes| *bytes == evil), "{name:?}");
            let codes: Vec<ProblemCode> = problems(victim).into_iter().map(|p| p.0).collect();
            assert_eq!(codes, [ProblemCode::Impossible], "{name:?}");
        });
    }
}

#[test]
fn folders_that_contain_each_other_stay_where_they_are() {
    simulate(async {
        let world = world().await;
        world.devices[0].user("x", |files, path| files.mkdir(path));
        world.devices[0].user("x/y", |files, path| files.mkdir(path));
        world.devices[0].write("x/y/in", b"in");
        pass(&world).await;
        let ids: Arc<Mutex<Option<Value>>> = Arc::default();
        about_json(&world.devices[1], CHANGES, move |page| {
            let mut inner = ids.lock().expect("no panic");
            for change in page["changes"].as_array_mut().into_iter().flatten() {
                if change["node"]["name"] == "y2" {
                    *inner = Some(change["node"]["id"].clone());
                }
            }
            for change in page["changes"].as_array_mut().into_iter().flatten() {
                if change["node"]["name"] == "x2" {
                    change["node"]["parent_id"] = inner.clone().unwrap_or_default();
                }
            }
        });
        let root = Path::new(ROOT);
        let device = &world.devices[0];
        for (from, to) in [("x/y", "x/y2"), ("x", "x2")] {
            let (from, to) = (root.join(from), root.join(to));
            device
                .disk
                .user(&from, true, |files| files.rename(&from, &to))
                .expect("the disk renames");
            device.disk.user(&to, true, |_| Ok(())).expect("seen");
            pass(&world).await;
        }
        device.write("good", b"good");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "good").as_deref(), Some("good"));
        let tree = tree_of(victim);
        let inside = tree
            .values()
            .filter(|bytes| **bytes == Some(b"in".to_vec()))
            .count();
        assert_eq!(inside, 1, "{tree:?}");
        let codes: Vec<ProblemCode> = problems(victim).into_iter().map(|p| p.0).collect();
        assert!(codes.contains(&ProblemCode::Impossible), "{codes:?}");
    });
}

#[test]
fn a_server_that_has_forgotten_everything_deletes_nothing() {
    simulate(async {
        let world = world().await;
        let before = tree_of(&world.devices[1]);
        world.devices[1]
            .line
            .lie(Some(Box::new(|path, status, body: Bytes| {
                if path.starts_with(CHANGES) {
                    let gone = json!({"code": 410, "message": "another history"});
                    (StatusCode::GONE, Bytes::from(gone.to_string()))
                } else if path.starts_with("/api/v1/changes/snapshot") {
                    let mut page: Value = serde_json::from_slice(&body).expect("JSON");
                    page["nodes"] = json!([]);
                    (status, Bytes::from(page.to_string()))
                } else {
                    (status, body)
                }
            })));
        world.devices[0].write("new", b"new");
        pass(&world).await;
        let after = tree_of(&world.devices[1]);
        for (path, bytes) in &before {
            assert_eq!(after.get(path), Some(bytes), "{path}");
        }
    });
}

#[test]
fn content_with_a_flipped_bit_never_reaches_its_place() {
    simulate(async {
        let world = world().await;
        world.devices[1]
            .line
            .lie(Some(Box::new(|path, status, body: Bytes| {
                if !path.contains("/downloads") && !path.contains("/chunks") {
                    return (status, body);
                }
                let mut body = body.to_vec();
                if let Some(last) = body.last_mut() {
                    *last ^= 1;
                }
                (status, Bytes::from(body))
            })));
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f").as_deref(), Some("v1"));
        assert!(!problems(victim).is_empty());
        victim.line.lie(None);
        pass(&world).await;
        assert_eq!(content(victim, "f").as_deref(), Some("v2"));
        assert_eq!(problems(victim), []);
    });
}

#[test]
fn deletions_that_no_device_vouches_for_leave_the_files_in_the_trash() {
    simulate(async {
        let world = world().await;
        about_json(&world.devices[1], CHANGES, |page| {
            for change in page["changes"].as_array_mut().into_iter().flatten() {
                if change["node"]["name"] == "f" {
                    change["kind"] = json!("deleted");
                    change["node"] = Value::Null;
                }
            }
        });
        world.devices[0].write("f", b"v2");
        pass(&world).await;
        let victim = &world.devices[1];
        assert_eq!(content(victim, "f"), None);
        let trashed = victim
            .disk
            .look(|files| files.listing(&Path::new(ROOT).join(".cairn-trash")));
        assert!(
            trashed.values().any(|bytes| *bytes == Some(b"v1".to_vec())),
            "{trashed:?}"
        );
    });
}
