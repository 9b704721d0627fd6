package pages

import (
	"crypto/sha256"
	_ "embed" // for the style sheet
	"encoding/hex"
	"net/http"

	"github.com/nomen-project/nomen/internal/chart"
)

//go:embed style.css
var style string

const staticPath = Root + "static/"

// An asset is a file whose URL contains a hash of its content. Caches may therefore keep it.
type asset struct {
	contentType string
	body        string
}

func assets() map[string]asset {
	return map[string]asset{styleName(): {"text/css; charset=utf-8", styles()}}
}

// styles returns the style sheet of the pages and of the charts in them.
func styles() string { return style + chart.CSS }

func styleName() string {
	sum := sha256.Sum256([]byte(styles()))
	return "style." + hex.EncodeToString(sum[:8]) + ".css"
}

// serveStatic sends a file. It does not require a session, because error pages use the style sheet
// too.
func (p *Pages) serveStatic(w http.ResponseWriter, r *http.Request) {
	a, ok := p.static[r.PathValue("file")]
	if !ok {
		p.newRequest(w, r).refuse(http.StatusNotFound, "error.not-found", "")
		return
	}
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(a.body)) // after an error, the client is gone
	}
}
