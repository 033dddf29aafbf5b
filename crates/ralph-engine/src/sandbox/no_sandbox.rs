//! Why no sandbox can be had as it was asked for.

/// Why no sandbox can be had as it was asked for.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NoSandbox {
    /// The settings ask for more than this machine has.
    #[error("sandbox.mode = \"{mode}\" is not possible here: {why}")]
    Machine {
        /// The mode.
        mode: &'static str,
        /// Why.
        why: String,
    },
    /// More paths of the workspace are protected than can be made read-only.
    #[error(
        "sandbox.mode = \"{mode}\" is not possible here: too many paths are protected, {more} of them would only be watched"
    )]
    TooMany {
        /// The mode.
        mode: &'static str,
        /// How many are not held.
        more: usize,
    },
    /// A backend works here, but not with this workspace and these settings. A weaker one must not take its place: an agent
    /// could have made what is in the workspace.
    #[error(
        "the sandbox `{backend}` works on this machine, but not with what is in this workspace, your home directory and the \
         settings: {why}"
    )]
    Workspace {
        /// The name of the backend.
        backend: &'static str,
        /// What failed.
        why: String,
    },
    /// A run keeps its backend, which cannot be built any more.
    #[error("the run began in the sandbox `{backend}`, which cannot be built any more: {why}")]
    Gone {
        /// The name of the backend.
        backend: String,
        /// What failed.
        why: String,
    },
}
