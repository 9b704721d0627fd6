// Package value gives the typed values of a record as Handle servers have them: the values of the
// types URL and 10320/loc are views of the locations of the record.
//
// # Views
//
// The data of a view are not stored in the value, so no location is stored twice. The field Index of
// a location is the index of its value.
//
//   - A value of the type URL without data is the location with its index.
//   - A value of the type 10320/loc whose data are an element <locations> without content is all
//     locations with its index. The data have the attributes of the set, such as chooseby. The field
//     Attributes of a location has those attributes that no other field has, in the form of XML.
//   - A location that no value shows is a value of the type URL with the lowest free index.
//
// All other values are as the record stores them. This includes a value of the type 10320/loc that
// the fields of locations cannot represent, because it has an element other than location, a
// location without href, text, a comment, or a name with a colon. nomen does not redirect to URLs
// in such data, and [registrar] does not check them.
//
// The text of a value of the type 10320/loc is written anew: the attributes have a fixed order,
// an XML declaration and white space between elements are removed, and countries are in lower case.
//
// [registrar]: https://pkg.go.dev/github.com/nomen-project/nomen/registrar
package value
