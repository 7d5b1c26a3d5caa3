//! Requests that servers send to the client: a model's answer ([`sampling`]) and input from the user ([`form`]).
//!
//! Both modules parse what a server sent within bounds, report what is not supported, and validate what is sent back.
//! Used by the owner in `host`, which asks the user and the models, and by the views of `api`, which show a
//! request.

pub mod form;
pub mod sampling;
