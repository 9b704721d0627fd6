// Package ezid converts records to identifiers and elements of EZID, and back. The EZID interface
// of the server and the import and export of EZID files use the package.
//
// # Identifiers
//
// EZID writes ark:/99999/fk4x for the name ark:99999/fk4x, doi:10.5072/FK2X for doi:10.5072/fk2x,
// and uuid:... for urn:uuid:....
//
// # Elements
//
// An element has a label and a value. Elements whose label begins with "_" are reserved:
//
// \t_target   the URL of the first location that is the resource itself
// \t_status   the status: public, reserved or unavailable; unavailable may be followed by " | " and
// a reason
// \t_updated  the time of the last change
//
// Every other element is stored unchanged as a typed value. The type is "ezid:" followed by the
// label, and the index is at least 10001. In addition, elements of the profiles erc, dc and
// datacite set the metadata of the record:
//
// \tcreator    erc.who   dc.creator    datacite.creator
// \ttitle      erc.what  dc.title      datacite.title
// \tpublisher            dc.publisher  datacite.publisher
// \tdate       erc.when  dc.date       datacite.publicationyear
// \ttype                 dc.type       datacite.resourcetype
//
// The label "dc." followed by the name of another element of Dublin Core sets that element. Each of
// the elements erc (ANVL), dc and datacite (XML) contains the metadata of its whole profile. If
// several elements set the same metadata, the elements of the profile in _profile take precedence.
//
// If the metadata of a record was later changed by other means, [Of] returns elements that match
// the new metadata.
package ezid
