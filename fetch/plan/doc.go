// Package plan says how the resource of a URL is retrieved, without network
// access: what to request from which server ([RequestOf]), which gateways and
// programs to use, and how locators lead to further locators ([Retriever]).
// Package fetch executes these plans.
//
// A [Retriever] implements the retrieval algorithm that the draft of 1993
// requires for every scheme: from a locator to further locators or the object.
// The caller supplies the steps that use the network. [Gateways] retrieve schemes
// that the caller does not support, a [Session] is handed to a program for a
// person to use, and a [GopherItem] that refers to another protocol becomes a
// locator of that protocol. An [Object] has at most one official name, which is
// the base for references inside it.
//
// Comments cite drafts by their year, as in "1995, 3.1"; docs/glossary.md lists the drafts.
package plan
