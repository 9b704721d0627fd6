package noid

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nomen-project/nomen/mint"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func (c *converter) minter() {
	if len(c.order) == 0 {
		return
	}
	reason := ""
	prefix, template, err := c.template()
	if err != nil {
		reason = "the minter cannot be continued: " + err.Error()
	} else {
		c.out.Authority(c.order[0].line, prefix, func(a *store.Authority) { continueWith(a, template) })
	}
	for _, s := range c.order {
		switch why := lost(s.key); {
		case why != "":
			c.out.RefuseAt(s.line, s.column, settingMark+s.key, why)
		case reason != "":
			c.out.RefuseAt(s.line, s.column, settingMark+s.key, reason)
		default:
			c.out.Handled(1)
		}
	}
}

// continueWith adds a minting template to an authority. The template replaces an existing template
// with the same shoulder.
func continueWith(a *store.Authority, t mint.Template) {
	a.Mint = slices.DeleteFunc(a.Mint, func(text string) bool {
		old, err := mint.Parse(a.Prefix, text)
		return err == nil && old.Shoulder() == t.Shoulder()
	})
	a.Mint = append(a.Mint, t.String())
}

func lost(key string) string {
	switch word, _, _ := strings.Cut(key, "/"); word {
	case "idmap":
		return "a rule of NOID for identifiers without a binding: write a rule of the authority instead"
	case "q":
		return "a queued identifier: it is not minted again"
	case "erc", "naa", "subnaa", "properties", "dbversion", "version", "status",
		"fseqnum", "gseqnum", "gseqnum_date", "padwidth", "held", "queued", "longterm", "genonly":
		return "describes the old database, and is not kept"
	case "template", "original_template", "origmask", "mask", "shoulder", "firstpart", "prefix", "naan",
		"generator_type", "type", "oacounter", "oatop", "total", "percounter", "basecount", "saclist", "siclist",
		"atlast", "atlast_status", "addcheckchar", "expandable", "unbounded", "germ", "maskskipcount", "lzskipcount", "oklz", "wrap":
		return ""
	}
	if _, ok := counter(key); ok {
		return ""
	}
	return "is not a known setting of NOID"
}

func counter(key string) (int, bool) {
	digits, what, ok := strings.Cut(strings.TrimPrefix(key, "c"), "/")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && key[0] == 'c' && (what == "value" || what == "top")
}

// These errors are the reasons why a minter cannot become a template.
var (
	errUnknown  = errors.New("the settings do not have template, mask and oacounter")
	errNoNAAN   = errors.New("the identifiers have no NAAN: the base must have it, as in ark:12345/")
	errCounters = errors.New("its counters are not those of Noid for this number of identifiers")
)

func (c *converter) template() (name.Prefix, mint.Template, error) {
	prefix, shoulder, err := c.shoulder()
	if err != nil {
		return prefix, mint.Template{}, err
	}
	text, err := c.part()
	if err != nil {
		return prefix, mint.Template{}, err
	}
	t, err := mint.Parse(prefix, shoulder+text)
	if err != nil {
		return prefix, t, err
	}
	return prefix, t, c.compare(t)
}

// shoulder returns the prefix of the authority, and the shoulder: the text that follows the prefix
// in all identifiers of the minter.
func (c *converter) shoulder() (name.Prefix, string, error) {
	beginning, _, extended := strings.Cut(c.settings["template"], "{")
	if !extended { // Noid: PREFIX.MASK; Nog: NAAN/PREFIX{MASK}
		beginning, _, _ = strings.Cut(c.settings["template"], ".")
		if naan := c.settings["naan"]; naan != "" {
			beginning = naan + "/" + beginning
		}
	}
	scheme, rest, _ := strings.Cut(c.base+beginning, ":")
	authority, shoulder, found := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	if !found || authority == "" {
		return name.Prefix{}, "", errNoNAAN
	}
	prefix, err := name.ParsePrefix(scheme + ":" + authority)
	return prefix, shoulder, err
}

func (c *converter) part() (string, error) {
	mask, kind := c.settings["mask"], c.settings["generator_type"]+c.settings["type"]
	count, err := strconv.ParseUint(c.settings["oacounter"], 10, 64)
	if mask == "" || err != nil || c.settings["template"] == "" {
		return "", errUnknown
	}
	if !strings.ContainsAny(mask[:1], "rsz") {
		switch {
		case strings.HasPrefix(kind, "rand"):
			mask = "r" + mask
		case strings.HasPrefix(kind, "seq"):
			mask = "s" + mask
		default:
			return "", fmt.Errorf("unknown type %q: want rand or seq", kind)
		}
	}
	for _, key := range []string{"germ", "maskskipcount", "lzskipcount", "wrap"} {
		if v := c.settings[key]; v != "" && v != "0" {
			return "", fmt.Errorf("setting %s=%q is not supported", key, v)
		}
	}
	switch last := c.settings["atlast"]; {
	case strings.HasPrefix(last, "add"):
		mask += ":" + last
	case strings.HasPrefix(last, "wrap"):
		return "", errors.New("it would make the same identifiers again (atlast=wrap)")
	}
	return fmt.Sprintf("{noid:%s:%d}", mask, count), nil
}

func (c *converter) compare(t mint.Template) error {
	want, ok := t.Counters()
	if !ok {
		return nil // sequential: oacounter is the state
	}
	for i, v := range want.Values {
		if c.settings[fmt.Sprintf("c%d/value", i)] != strconv.FormatUint(v, 10) {
			return errCounters
		}
	}
	active := make([]string, 0, len(want.Active))
	for _, i := range want.Active {
		active = append(active, fmt.Sprintf("c%d", i))
	}
	if !slices.Equal(strings.Fields(c.settings["saclist"]), active) {
		return errCounters
	}
	return nil
}
