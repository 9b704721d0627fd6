// Package extra has the rules of the schemes that the drafts do not name: those
// of persistent identifiers besides URNs (ark, doi, hdl, info, tag, did), of
// people (sip, xmpp, tel, acct), of data (data, ni, magnet), of devices,
// databases and repositories, and of programs. [Catalogue] returns them together
// with those of package scheme.
//
// # Adding a scheme
//
// Each scheme has its own file, or shares one with related schemes. The file
// has:
//
//   - a variable of type [scheme.Scheme], with Name, Kind, Reference, Example,
//     Security, and Retrieval or Properties; title and status default to those
//     of the registry;
//   - constants for the rules, "document, section: production";
//   - check and parts functions that use package layout, which returns the
//     offsets of the components. A check without findings must not allocate, and
//     neither function may panic on any URI of the scheme, valid or not, in any
//     dialect.
//
// List the variable in catalogue.go, and an unregistered scheme also in
// unregistered.go of package scheme, so that its name is known there. Add a row
// to docs/reference/schemes.md.
package extra
