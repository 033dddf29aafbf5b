//! One attack: a small Python program, who must hold it, and how it is shown to be real.

use crate::scene::Scene;
use ralph_sandbox::Plan;

/// As whom an attack runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Root, in a workspace of its own.
    Root,
    /// An ordinary user.
    User,
    /// Root in somebody else's workspace: all ids are mapped and some capabilities kept.
    RootForUser,
}

/// What shows that the attack works where nothing holds it. An attack that fails everywhere proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// It works without a sandbox.
    Bare,
    /// It works without a sandbox, but only as root.
    BareRoot,
    /// It works in a box of mounts that keeps its capabilities.
    WeakBox,
    /// It cannot be shown: harmful outside, or held by the kernel itself.
    None(&'static str),
}

pub struct Attack {
    pub name: &'static str,
    pub code: &'static str,
    pub landlock: bool,
    pub control: Control,
    pub victim: bool,
    pub plan: fn(&mut Plan),
    pub before: Option<fn(&Scene)>,
    pub only: fn(Who) -> bool,
    pub ends_itself: bool,
    pub reaches: &'static str,
    pub descriptors: bool,
    pub looks: u32,
    pub alone: bool,
}

/// An attack that works for anybody without a sandbox.
pub fn attack(name: &'static str, code: &'static str) -> Attack {
    Attack {
        name,
        code,
        landlock: false,
        control: Control::Bare,
        victim: false,
        plan: |_| {},
        before: None,
        only: |_| true,
        ends_itself: false,
        reaches: "",
        descriptors: false,
        looks: 1,
        alone: false,
    }
}

impl Attack {
    /// Landlock must hold it too.
    pub fn landlock(self) -> Attack {
        Attack { landlock: true, ..self }
    }

    pub fn control(self, control: Control) -> Attack {
        Attack { control, ..self }
    }

    /// Needs somebody outside who listens, runs and shares memory.
    pub fn victim(self) -> Attack {
        Attack { victim: true, ..self }
    }

    pub fn plan(self, plan: fn(&mut Plan)) -> Attack {
        Attack { plan, ..self }
    }

    /// Prepares the scene, outside.
    pub fn before(self, before: fn(&Scene)) -> Attack {
        Attack { before: Some(before), ..self }
    }

    pub fn only(self, only: fn(Who) -> bool) -> Attack {
        Attack { only, ..self }
    }

    /// May kill itself, so that it does not come to its end.
    pub fn ends_itself(self) -> Attack {
        Attack { ends_itself: true, ..self }
    }

    /// Must come this far as an ordinary user: what it then tries would otherwise not be tried at all.
    pub fn reaches(self, step: &'static str) -> Attack {
        Attack { reaches: step, ..self }
    }

    /// The runner is started with descriptors of things outside, open for the program.
    pub fn descriptors(self) -> Attack {
        Attack { descriptors: true, ..self }
    }

    /// Its processes change their ids so fast that one look at the list can miss them all.
    pub fn looks(self, looks: u32) -> Attack {
        Attack { looks, ..self }
    }

    /// Gets a box of its own: it leaves processes, or would end the one that plays the others.
    pub fn alone(self) -> Attack {
        Attack { alone: true, ..self }
    }

    /// Whether both can be played in one box, one after the other.
    pub fn goes_with(&self, other: &Attack) -> bool {
        let apart = |attack: &Attack| attack.alone || attack.before.is_some();
        !apart(self)
            && !apart(other)
            && std::ptr::fn_addr_eq(self.plan, other.plan)
            && (self.victim, self.descriptors) == (other.victim, other.descriptors)
    }
}
