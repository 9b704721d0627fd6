package adminapi

import _ "embed" // for the OpenAPI document

// OpenAPI is the description of the admin API and of the public paths of a server, as JSON
// (OpenAPI 3.1). It must not be changed.
//
//go:embed openapi.json
var OpenAPI []byte
