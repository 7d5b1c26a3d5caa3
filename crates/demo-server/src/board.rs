//! Board of tasks that the tools in `tools/board.rs` show and change.

use serde::Deserialize;
use serde_json::{Value, json};

/// Columns of the board of tasks, in the order in which they are displayed.
pub(crate) const BOARD_COLUMNS: [BoardColumn; 3] = [BoardColumn::ToDo, BoardColumn::Doing, BoardColumn::Done];

/// Column of the board of tasks, which is the state of the tasks in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BoardColumn {
    /// Column of the tasks that nobody has started.
    ToDo,
    /// Column of the tasks that somebody works on.
    Doing,
    /// Column of the tasks that are finished.
    Done,
}

impl BoardColumn {
    /// Returns the name of the column in tool arguments and in structured content, such as `doing`.
    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::ToDo => "to_do",
            Self::Doing => "doing",
            Self::Done => "done",
        }
    }

    /// Returns the heading of the column for display.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::ToDo => "To do",
            Self::Doing => "Doing",
            Self::Done => "Done",
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct BoardCard {
    id: &'static str,
    title: &'static str,
    note: &'static str,
    column: BoardColumn,
}

/// Error for a card that is not on the board.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownCardError;

/// A board of tasks with three columns and a fixed set of cards, each in one column.
#[derive(Debug)]
pub(crate) struct Board {
    /// Cards in the order in which they are displayed within their columns.
    cards: Vec<BoardCard>,
}

impl Board {
    /// Creates a board with cards in all columns.
    pub(crate) fn new() -> Self {
        let card = |id, title, note, column| BoardCard { id, title, note, column };
        Self {
            cards: vec![
                card("buoy", "Paint the buoy", "Red, with a white stripe.", BoardColumn::ToDo),
                card("winch", "Grease the winch", "It screams in the morning.", BoardColumn::ToDo),
                card("gulls", "Count the gulls", "Twice, since they move.", BoardColumn::Doing),
                card("quay", "Sweep the quay", "The broom is in the shed.", BoardColumn::Done),
            ],
        }
    }

    /// Moves a card to the end of a column, and returns the title of the card.
    pub(crate) fn move_card(&mut self, id: &str, column: BoardColumn) -> Result<&'static str, UnknownCardError> {
        let index = self.cards.iter().position(|card| card.id == id).ok_or(UnknownCardError)?;
        let card = self.cards.remove(index);
        self.cards.push(BoardCard { column, ..card });
        Ok(card.title)
    }

    /// Returns the board as text, with one line for each column.
    pub(crate) fn to_text(&self) -> String {
        let lines = BOARD_COLUMNS.map(|column| {
            let cards: Vec<_> =
                self.cards_in_column(column).map(|card| format!("{} ({})", card.title, card.id)).collect();
            format!("{}: {}", column.title(), if cards.is_empty() { "nothing".to_owned() } else { cards.join(", ") })
        });
        lines.join("\n")
    }

    /// Returns the board as structured content of a tool result.
    pub(crate) fn to_json(&self) -> Value {
        let columns = BOARD_COLUMNS.map(|column| {
            let card = |card: &BoardCard| json!({ "id": card.id, "title": card.title, "note": card.note });
            let cards: Vec<_> = self.cards_in_column(column).map(card).collect();
            json!({ "id": column.id(), "title": column.title(), "cards": cards })
        });
        json!({ "columns": columns })
    }

    fn cards_in_column(&self, column: BoardColumn) -> impl Iterator<Item = &BoardCard> {
        self.cards.iter().filter(move |card| card.column == column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_card_is_the_last_of_its_column() {
        let mut board = Board::new();
        assert_eq!(board.move_card("buoy", BoardColumn::Doing), Ok("Paint the buoy"));
        assert_eq!(
            board.to_text(),
            "To do: Grease the winch (winch)\n\
             Doing: Count the gulls (gulls), Paint the buoy (buoy)\n\
             Done: Sweep the quay (quay)"
        );
        assert_eq!(board.to_json()["columns"][1]["cards"][1]["title"], "Paint the buoy");
    }

    #[test]
    fn empty_board_column_is_displayed() {
        let mut board = Board::new();
        assert_eq!(board.move_card("quay", BoardColumn::ToDo), Ok("Sweep the quay"));
        assert!(board.to_text().ends_with("Done: nothing"), "{}", board.to_text());
        assert_eq!(board.to_json()["columns"][2]["cards"], json!([]));
    }

    #[test]
    fn moving_an_unknown_card_changes_nothing() {
        let mut board = Board::new();
        let before = board.to_json();
        assert_eq!(board.move_card("anchor", BoardColumn::Done), Err(UnknownCardError));
        assert_eq!(board.to_json(), before);
    }

    #[test]
    fn board_columns_are_named_as_in_tool_arguments() {
        for column in BOARD_COLUMNS {
            let parsed: Result<BoardColumn, _> = serde_json::from_value(json!(column.id()));
            assert_eq!(parsed.ok(), Some(column));
        }
    }
}
