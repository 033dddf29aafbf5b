//! A board with what is wrong with its database kept in mind: a database that cannot be opened is tried again once a
//! second, and in between there is still trouble.

use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_rules::record::Ms;
use ralph_view::board::{Board, BoardSettings, News};

/// Longer than a board waits before it looks for its database again.
const LOOKED_AGAIN: Ms = 1_500;

/// A board and its trouble.
pub struct FollowedBoard {
    board: Board,
    trouble: Option<(String, Ms)>,
}

impl FollowedBoard {
    /// One that has seen nothing yet.
    pub fn new(home: &Home, settings: BoardSettings) -> FollowedBoard {
        FollowedBoard { board: Board::new(home, settings), trouble: None }
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Why the database cannot be read, in a sentence.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_ref().map(|(text, _)| text.as_str())
    }

    /// What is new since the last time.
    pub fn poll(&mut self) -> News {
        let now = utc();
        let news = self.board.poll(now);
        match &news.trouble {
            Some(text) => self.trouble = Some((text.clone(), now)),
            None => {
                let reads = self.board.store().is_some();
                let is_over = |(_, at): &(String, Ms)| reads || now < *at || now - at > LOOKED_AGAIN;
                self.trouble = self.trouble.take().filter(|trouble| !is_over(trouble));
            }
        }
        news
    }
}
