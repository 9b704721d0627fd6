// Package admin serves the admin API of a name service: it reads and changes records and
// authorities, imports and exports them, runs jobs, and verifies the store. Package adminapi
// has its types and its client.
//
// An [API] is the handler of the admin listener of package server. Each request to a resource
// of the API needs a token. The registrar checks the rights of the token. A client can state
// which revision of a record it expects to change. If the record has another revision, the
// response is a conflict. While [API.Run] runs, an [API] also verifies the store in the
// background.
package admin
