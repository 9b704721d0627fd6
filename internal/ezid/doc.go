// Package ezid converts records to the identifiers and elements of EZID, and back. The EZID
// dialect, import and export use it.
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
//	_target   the URL of the first location that is the resource itself
//	_status   public, reserved, or unavailable with the reason after " | ": the status and the reason
//	_updated  the time of the last change
//
// Every other element is stored as it was given, as a typed value with the type "ezid:" and the
// label, and an index from 10001. In addition, elements of the profiles erc, dc and datacite set
// the metadata of the record:
//
//	creator    erc.who   dc.creator    datacite.creator
//	title      erc.what  dc.title      datacite.title
//	publisher            dc.publisher  datacite.publisher
//	date       erc.when  dc.date       datacite.publicationyear
//	type                 dc.type       datacite.resourcetype
//
// The label "dc." with the name of another element of Dublin Core sets that element. Each of the
// elements erc (ANVL), dc and datacite (XML) has the metadata of its whole profile. If several
// elements set the same metadata, those of the profile in _profile take precedence.
//
// If the metadata of a record was later changed in another way, [Of] returns elements with the new
// metadata.
package ezid
