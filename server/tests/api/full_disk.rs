//! A full disk of the server: everybody is told that it passes, and nobody that their own quota is used up.

use axum::response::IntoResponse as _;
use cairn_server::{Clock, Error, PostgresUrl, Source};
use cairn_store::{Error as StoreError, Store};
use rusqlite::ffi::{self, SQLITE_CORRUPT, SQLITE_FULL};
use std::io::{self, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;

/// Returns an error of SQLite.
fn of_sqlite(code: i32) -> StoreError {
    StoreError::Sql(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into())
}

/// Returns the error that a store makes of a code of PostgreSQL: of a database that answers each connection with it.
fn of_postgres(code: &str) -> StoreError {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let fields = format!("SERROR\0C{code}\0Mno\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap();
    let refusal = [&b"E"[..], &length.to_be_bytes()[..], fields.as_bytes()].concat();
    // It ends with the tests.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Unread bytes would reset the connection.
            let mut length = [0; 4];
            stream.read_exact(&mut length).unwrap();
            let rest = u64::from(u32::from_be_bytes(length)) - 4;
            io::copy(&mut (&stream).take(rest), &mut io::sink()).unwrap();
            stream.write_all(&refusal).unwrap();
        }
    });
    let url = format!("postgres://cairn@127.0.0.1:{port}/cairn?sslmode=disable");
    let source = Arc::new(Source::new(Clock::System, Some(1)));
    let refused = Store::open_postgres(&PostgresUrl(url), None, source);
    refused.err().unwrap()
}

fn of_io(kind: io::ErrorKind) -> StoreError {
    StoreError::Io {
        what: "write".to_owned(),
        source: kind.into(),
    }
}

#[test]
fn a_full_disk_is_neither_a_full_quota_nor_another_failure() {
    let full = "the server's disk is full: its operator has to make room";
    let away = "the server can't reach its database; try again";
    let failed = "the server failed; its log has the cause under this response's X-Request-Id";
    for (error, status, message) in [
        (of_sqlite(SQLITE_FULL), 503, full),
        (of_sqlite(SQLITE_CORRUPT), 500, failed),
        (of_postgres("53100"), 503, full),
        (of_postgres("53300"), 503, away),
        (of_postgres("42601"), 500, failed),
        (of_io(io::ErrorKind::StorageFull), 503, full),
        (of_io(io::ErrorKind::QuotaExceeded), 503, full),
        (of_io(io::ErrorKind::PermissionDenied), 500, failed),
        (StoreError::QuotaFull("no room".to_owned()), 507, "no room"),
    ] {
        let error = Error::from(error);
        let (got, body) = (error.status().as_u16(), error.body());
        assert_eq!((got, body.code), (status, status), "{error}");
        assert_eq!(body.message, message, "{error}");
        let response = error.into_response();
        let wait = response.headers().get("retry-after");
        assert_eq!(wait.is_some(), status == 503, "{message}");
    }
}

#[test]
fn the_document_says_what_an_upload_gets_where_the_disk_is_full() {
    let document = cairn_server::openapi::document();
    for (path, method) in [
        ("/api/v1/uploads", "post"),
        ("/api/v1/uploads/batch", "post"),
        ("/api/v1/uploads/{id}/chunks/{chunk}", "put"),
        ("/api/v1/uploads/{id}/complete", "post"),
    ] {
        let response = &document["paths"][path][method]["responses"]["503"];
        let name = response["$ref"].as_str().unwrap();
        let response = document.pointer(&name[1..]).unwrap();
        assert!(response["headers"]["Retry-After"].is_object(), "{path}");
    }
}
