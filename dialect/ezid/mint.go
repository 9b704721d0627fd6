package ezid

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/internal/ezid"
	"github.com/nomen-project/nomen/mint/reserve"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

func (h *Handler) mint(c *call) reply {
	actor, failure := h.author(c)
	if !failure.ok() {
		return failure
	}
	ch := change{actor: actor}
	if ch.given, failure = c.body(); !failure.ok() {
		return failure
	}
	if _, failure = c.options(); !failure.ok() {
		return failure
	}
	s, err := h.shoulder(c.r.Context(), c.rest)
	switch {
	case errors.Is(err, errNoShoulder):
		return badRequest(errNoShoulder.Error())
	case err != nil:
		return h.failure(c, err)
	}
	return h.mintUnder(c, s, ch)
}

var errNoShoulder = errors.New("no such shoulder")

// A shoulder is the prefix of new identifiers. It consists of the prefix of an authority and a
// template for the rest of the identifier.
type shoulder struct {
	prefix   name.Prefix
	template string
}

// shoulder returns the shoulder for a text. The text may be any prefix of identifiers in the scope
// of the dialect. If the authority has a template for the text, the shoulder uses this template.
func (h *Handler) shoulder(ctx context.Context, text string) (shoulder, error) {
	if text == "uuid:" {
		text = "uuid:00000000-0000-0000-0000-00000000000"
	}
	sample, ok := ezid.ParseID(text + "0")
	if !ok || !h.Scope.Covers(sample) {
		return shoulder{}, errNoShoulder
	}
	set, err := h.Authorities.Set(ctx, time.Time{})
	if err != nil {
		return shoulder{}, err
	}
	a := set.Of(sample)
	if a == nil {
		return shoulder{}, errNoShoulder
	}
	s := shoulder{prefix: a.Prefix}
	begin, plain := strings.CutSuffix(a.Prefix.Element(sample), "0")
	switch template := reserve.TemplateOf(a, begin); {
	case plain && template != "":
		s.template = template
	case sample.Scheme() == "urn":
		s.template = "{uuid}"
	case !plain || strings.ContainsAny(begin, "{}") || !ascii.IsASCII(begin):
		return shoulder{}, errNoShoulder
	case sample.Scheme() == "ark":
		s.template = begin + "{random:8}{check:noid}"
	default:
		s.template = begin + "{random:8}"
	}
	return s, nil
}

func (h *Handler) mintUnder(c *call, s shoulder, ch change) reply {
	var failure reply
	names := reserve.Names(c.r.Context(), reserve.NewMinter(ch.actor, h.Registrar, h.Store, h.Authorities), reserve.Options{
		Prefix: s.prefix, Template: s.template, Count: 1, Now: h.Now,
		Record: func(n name.Name) (*store.Record, error) {
			ch.name = n
			var rec *store.Record
			if rec, failure = h.fresh(c, ch); rec == nil {
				return nil, errRefused
			}
			return rec, nil
		},
	})
	for n, err := range names {
		switch {
		case errors.Is(err, errRefused):
			return failure
		case reserve.CannotMint(err):
			return badRequest("shoulder does not support minting")
		case err != nil:
			return h.failure(c, err)
		}
		r := succeeded(withShadow(n))
		r.created = true
		return r
	}
	return badRequest("shoulder does not support minting")
}

var errRefused = errors.New("elements refused")
