//! Skills as users and other tools write them, and as nobody should.

mod broken;
mod found;
mod front_matter;
mod reading;
