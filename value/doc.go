// Package value converts the locations of a record to the typed values that Handle servers use, and
// back. A value of the type URL or 10320/loc is a view of locations.
//
// # Views
//
// So that no location is stored twice, a view has no data of its own. It shows the locations whose
// field Index is the index of the value:
//
//   - A value of the type URL without data shows one location.
//   - A value of the type 10320/loc shows all locations with its index. Its data are an element
//     <locations> without content, which has the attributes of the set, such as chooseby. Attributes
//     of a location that no other field has are in its field Attributes, in the form of XML.
//   - If no value shows a location, the location becomes a value of the type URL with the lowest
//     free index.
//
// All other values are returned as the record stores them. One of these is a value of the type
// 10320/loc that the fields of locations cannot represent, because it has an element other than
// location, a location without href, text, a comment, or a name with a colon. nomen does not
// redirect to URLs in such data, and [registrar] does not check them.
//
// The XML of a value of the type 10320/loc is generated. Its attributes have a fixed order, an XML
// declaration and white space between elements are omitted, and countries are in lower case.
//
// [registrar]: https://pkg.go.dev/github.com/nomen-project/nomen/registrar
package value
