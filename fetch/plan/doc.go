// Package plan finds out how to retrieve the resource of a URL, without any network access.
// [RequestOf] returns what to request from which server. Package fetch executes such plans.
//
// A [Retriever] implements the retrieval algorithms that the draft of 1993 requires for every
// scheme. A step of an algorithm leads from a URL to the object or to other URLs. The caller
// supplies the steps that need the network.
//
// For schemes that the caller does not support, [Gateways] has a table of gateways. A [Session]
// describes an interactive session, which the caller passes to a program for a person. A
// [GopherItem] that refers to another protocol becomes a URL of that protocol. An [Object] has at
// most one official name, which is the base of references in it.
//
// In comments, a locator is a URL. They cite drafts by their year and section, as in "1995, 3.1";
// docs/glossary.md lists the drafts.
package plan
