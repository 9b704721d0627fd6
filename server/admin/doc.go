// Package admin serves the admin API of a name service. The API reads and changes records and
// authorities, imports and exports them, runs jobs, and verifies the store. Package adminapi has
// the types of the API and a client.
//
// An [API] is the handler of the admin listener of package server. Each request to a resource of
// the API needs a token, whose rights the registrar checks. A change may name the expected revision
// of a record. If the record has a different revision, the response is a conflict. While [API.Run]
// runs, the API also verifies the store in the background.
package admin
