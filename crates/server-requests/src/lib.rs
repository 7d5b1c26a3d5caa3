//! Requests that servers send to the client: sampling of the user's models ([`sampling`]) and input from the user
//! ([`form`]).
//!
//! Both modules parse a request within bounds, report its unsupported parts, and validate the response. Used by the
//! owner in `host`, which prompts the user and the models, and by the views of `api`, which show a request.

pub mod form;
pub mod sampling;
