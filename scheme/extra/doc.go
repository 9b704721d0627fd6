// Package extra has the rules of the schemes that the drafts do not name: those
// of persistent identifiers besides URNs (ark, doi, hdl, info, tag, did), of
// people (sip, xmpp, tel, acct), of data (data, ni, magnet), of devices,
// databases and repositories, and of programs. [Catalogue] returns these schemes
// together with the schemes of package scheme.
//
// # Adding a scheme
//
// A file has one scheme or several related schemes. For each scheme it has:
//
//   - a variable of type [scheme.Scheme], with Name, Kind, Reference, Example,
//     Security, and Retrieval or Properties. Title and status default to those
//     of the IANA registry;
//   - a constant for each rule, in the form "document, section: production";
//   - check and parts functions that use package layout, which returns the
//     offsets of the components. A check without findings must not allocate.
//     Neither function may panic on any URI of the scheme, valid or not, in any
//     dialect.
//
// List the variable in catalogue.go, and add a row to docs/reference/schemes.md.
// List a scheme that is not registered at IANA also in scheme/unregistered.go.
package extra
