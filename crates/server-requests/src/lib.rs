//! Requests that servers send to the client: sampling of the user's models ([`sampling`]) and input from the user
//! ([`form`]).
//!
//! Both modules parse a request within bounds, report its unsupported parts, and validate the response. Used by the
//! crate `host`, which prompts the user and the models, and by the crate `api`, whose data types show a request.

pub mod form;
pub mod sampling;
