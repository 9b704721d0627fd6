package format

import (
	"html/template"

	"github.com/nomen-project/nomen/site"
)

// A Page has the URLs of the page about a name, and data that only HTML pages show. With the zero
// Page, the formats contain only the links of the answer itself.
type Page struct {
	Base  string // URL of the server, without a slash at its end; "" if unknown
	Asked string // URL of the request, without its query; "" if this is Base followed by the path of the name

	Root string // path of the server on its host, without a slash at its end

	// These fields are used only for HTML pages.

	Site    *site.Page    // header, footer and language; nil if the site has no settings
	Owner   Owner         // who is responsible for the name
	Past    Past          // the name at other times
	QR      template.HTML // a QR code with the URL of the name, or ""
	Receipt string        // URL of the receipt for the revision, or ""
	Other   bool          // the problem on the page is not about a name
}

// An Owner is the organisation that is responsible for the names with a prefix.
type Owner struct {
	Prefix      string
	Description string
	Contact     string // usually a URL
}

func (p Page) nameURL(key string) string {
	if p.Base == "" || key == "" {
		return ""
	}
	if isWeb(key) {
		return key
	}
	return p.Base + NamePath(key)
}
