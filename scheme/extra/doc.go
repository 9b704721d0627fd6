// Package extra has the rules of the URI schemes that the drafts do not name. These are schemes of
// persistent identifiers other than URNs (ark, doi, hdl, info, tag, did), of people (sip, xmpp,
// tel, acct), of data (data, ni, magnet), of devices, databases and repositories, and of programs.
// [Catalogue] returns these schemes together with those of package scheme.
//
// # Adding a scheme
//
// Put the scheme into a file of its own, or into one with related schemes. It needs
//
//   - a variable of type [scheme.Scheme], with Name, Kind, Reference, Example,
//     Security, and Retrieval or Properties. If Title and Status are empty, they
//     are taken from the IANA registry;
//   - a constant for each rule, in the form "document, section: production";
//   - check and parts functions, which use package layout to find the
//     components. A check without findings must not allocate. Neither function
//     may panic on any URI of the scheme, valid or not, in any dialect.
//
// Then list the variable in catalogue.go, and add a row to docs/reference/schemes.md. If the scheme
// is not registered at IANA, also list it in scheme/unregistered.go.
package extra
