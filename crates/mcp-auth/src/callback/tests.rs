//! Tests of the way back from the browser.
