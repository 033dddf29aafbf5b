//! ralph-sim
