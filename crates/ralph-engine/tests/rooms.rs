//! Room folders on real directories: what a fill leaves alone, what it writes, what it removes.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod rooms {
    mod dependencies;
    mod fill;
    mod hostile;
    mod ignored;
    mod outside;
    mod scene;
}
