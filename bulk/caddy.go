package bulk

import (
	"errors"
	"strings"
	"time"

	"github.com/nomen-project/nomen/store"
)

const caddyHead = `# The locations of names, for Caddy. In the block of a site: import FILE
#
map {path} {nomen_location} {
`

type caddyMap struct {
	at   time.Time
	path webPath
}

func (*caddyMap) head() []byte { return []byte(caddyHead) }

func (c *caddyMap) record(b []byte, r *store.Record) ([]byte, error) {
	url, err := best(r, c.at)
	if err != nil {
		return b, err
	}
	path, err := c.path.decoded(r.Name)
	if err != nil {
		return b, err
	}
	path = c.path.url() + path
	if strings.ContainsAny(path+url, `"{}\`) {
		return b, &heldError{"url", `has a character that Caddy reads otherwise: " { } \`}
	}
	return append(b, "\t\""+path+"\" \""+url+"\"\n"...), nil
}

func (*caddyMap) authority(*store.Authority) {}

// rule always fails, because the map directive of Caddy cannot express rules.
func (*caddyMap) rule(b []byte, _ *store.Authority, _ int) ([]byte, error) {
	return b, errors.New("rules are not written for Caddy")
}

func (*caddyMap) end(b []byte, _ *store.Authority) ([]byte, error) { return b, nil }

func (*caddyMap) tail() []byte {
	return []byte("\tdefault \"\"\n}\n@nomen_location expression `{nomen_location} != \"\"`\nredir @nomen_location {nomen_location} 303\n")
}
