// Package plan determines how to retrieve the resource of a URL. It does not access the network.
// [RequestOf] returns a [Request], which has the server and the commands or text to send. Package
// fetch sends such requests.
//
// A [Retriever] implements the retrieval algorithms that the draft of 1993 requires for every
// scheme. An algorithm consists of steps. A [Step] executes a request, and returns the object or
// other URLs. The caller supplies the steps.
//
// [Gateways] is a table of gateways for schemes that the caller does not support. A [Session]
// describes an interactive session, which the caller opens with another program. A [GopherItem] is
// an item of a Gopher menu, and [GopherItem.Locator] returns the URL to which the item refers. An
// [Object] has at most one official name, which is the base of relative references in the object.
//
// Comments use the term "locator" for a URL. The file docs/glossary.md lists the drafts that
// comments cite by their year.
package plan
