// Package value converts the locations of a record to the typed values of Handle servers, and back.
// The locations become values of the types URL and 10320/loc.
//
// # Views
//
// To avoid storing a location twice, a record stores such a value without its data. The value is
// then a view: its data are generated from the locations whose field Index is the index of the
// value.
//
//   - A value of the type URL whose stored data are empty shows one location.
//   - A value of the type 10320/loc shows all locations with its index. The stored data are an XML
//     element <locations> without content. The element has the attributes of the set of locations,
//     such as chooseby. The field Attributes of a location contains those XML attributes for which
//     a location has no other field.
//   - For a location that no stored value shows, a value of the type URL is generated, with the
//     lowest free index.
//
// All other values are returned as they are stored. This includes a value of the type 10320/loc
// that cannot be converted to locations, because its XML has another element, a location without
// href, text, a comment, or a name with a colon. nomen does not redirect to URLs in such data, and
// [registrar] does not check them.
//
// The XML that is generated for a value of the type 10320/loc can differ from the XML that was
// stored. Attributes have a fixed order, countries are in lower case, and the XML declaration and
// white space between elements are omitted.
//
// [registrar]: https://pkg.go.dev/github.com/nomen-project/nomen/registrar
package value
