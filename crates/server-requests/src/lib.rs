//! What servers ask for while they answer: a model's answer ([`sampling`]) and a form for the user ([`form`]).
//!
//! Both read what a server sent within bounds, say what can't be done with it, and check what goes back. Callers: the owner of
//! `host`, which asks the user and the models; the views of `api`, which show a request.

pub mod form;
pub mod sampling;
