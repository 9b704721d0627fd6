// Package extra has the rules of URI schemes for which package scheme has none. Examples are
// persistent identifiers other than URNs (ark, doi, hdl, info, tag, did), addresses of people (sip,
// xmpp, tel, acct), and embedded or hashed data (data, ni, magnet). Other schemes identify devices,
// databases, source repositories and programs. [Catalogue] returns these schemes together with
// those of package scheme.
//
// # Adding a scheme
//
// Put the scheme into a new file, or into the file of related schemes. A scheme needs
//
//   - a variable of type [scheme.Scheme], with Name, Kind, Reference, Example,
//     Security, and Retrieval or Properties. If Title and Status are empty, they
//     are taken from the IANA registry;
//   - a constant for each rule, in the form "document, section: production";
//   - a check function and a parts function, which use package layout to find the components. A
//     check without findings must not allocate. Neither function may panic on a URI of the scheme,
//     even if the URI is invalid or in another dialect.
//
// Then list the variable in catalogue.go, and add a row to docs/reference/schemes.md. If the scheme
// is not registered at IANA, also list it in scheme/unregistered.go.
package extra
