package arklet

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nomen-project/nomen"
	"github.com/nomen-project/nomen/internal/ascii"
	"github.com/nomen-project/nomen/mint/reserve"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/registrar"
	"github.com/nomen-project/nomen/store"
)

const why = "arklet client"

// The indexes and types of the values that store the fields of arklet. The import from arklet uses
// the same values.
const (
	indexMetadata   = 10001
	indexCommitment = 10002
	typeMetadata    = "arklet:metadata"
	typeCommitment  = "arklet:commitment"
)

// description is the metadata element with a copy of the field that arklet calls metadata.
const description = "description"

// set sets all fields of a record from a request. As in arklet, fields that are not in the request
// are removed. An ARK without a URL becomes reserved, except that an active ARK stays active,
// because it is already public.
func set(rec *store.Record, f form) {
	rec.Locations = nil
	if url := f[memberURL]; url != "" {
		rec.Locations = []nomen.Location{{URL: url}}
	}
	rec.Values = slices.DeleteFunc(rec.Values, func(v nomen.Value) bool { return v.Type == typeMetadata || v.Type == typeCommitment })
	for _, v := range []nomen.Value{
		{Index: indexMetadata, Type: typeMetadata, Data: f[memberMetadata]},
		{Index: indexCommitment, Type: typeCommitment, Data: f[memberCommitment]},
	} {
		rec.Values = slices.DeleteFunc(rec.Values, func(o nomen.Value) bool { return v.Data != "" && o.Index == v.Index })
		if v.Data != "" {
			rec.Values = append(rec.Values, v)
		}
	}
	slices.SortFunc(rec.Values, func(a, b nomen.Value) int { return a.Index - b.Index })
	if rec.Metadata == nil {
		rec.Metadata = nomen.Metadata{}
	}
	delete(rec.Metadata, description)
	if text := f[memberMetadata]; text != "" {
		rec.Metadata[description] = []string{text}
	}
	if rec.Status == nomen.Reserved && len(rec.Locations) > 0 {
		rec.Status = nomen.Active
	}
}

func (h *Handler) mint(c *call) error {
	f, err := readForm(c.r)
	if err != nil {
		return err
	}
	var prefix name.Prefix
	if err := f.check([]string{memberNAAN, memberShoulder}, func(add func(string, string)) {
		var ok bool
		if prefix, ok = naanPrefix(f[memberNAAN]); f[memberNAAN] != "" && !ok {
			add(memberNAAN, "Enter a whole number.")
		}
		if shoulder := f[memberShoulder]; shoulder != "" && (shoulder[0] != '/' || len(shoulder) == 1) {
			add(memberShoulder, "Shoulders must start with a forward slash")
		}
	}); err != nil {
		return err
	}
	options, err := h.under(c, prefix, strings.TrimPrefix(f[memberShoulder], "/"))
	if err != nil {
		return err
	}
	options.Record = func(n name.Name) (*store.Record, error) {
		rec := &store.Record{Name: n, Spelling: n.Key(), Status: nomen.Reserved}
		set(rec, f)
		return rec, nil
	}
	for n, err := range reserve.Names(c.r.Context(), reserve.NewMinter(c.actor, h.Registrar, h.Store, h.Authorities), options) {
		if err != nil {
			return err
		}
		c.send(http.StatusOK, jsonType, `{"ark": `+quoted(spelled(n))+`}`)
	}
	return nil
}

// spelled returns an ARK as arklet spells it, with a slash after "ark:".
func spelled(n name.Name) string { return "ark:/" + strings.TrimPrefix(n.Key(), "ark:") }

// under returns the options for creating an ARK that begins with a shoulder. If the authority has a
// template with this shoulder, the template is used. Otherwise, eight random characters and the
// NOID check character follow the shoulder, as in arklet.
func (h *Handler) under(c *call, prefix name.Prefix, shoulder string) (o reserve.Options, err error) {
	invalid := &invalidError{formErrors{{memberShoulder, "Enter a valid shoulder."}}}
	sample, err := name.Parse(prefix.String() + "/" + shoulder + "0")
	if err != nil || strings.ContainsAny(shoulder, "{}%") || !ascii.IsASCII(shoulder) {
		return o, invalid
	}
	if !h.Scope.Covers(sample) {
		return o, c.actor.Denied(registrar.Editor, sample, sample.Key())
	}
	set, err := h.Authorities.Set(c.r.Context(), time.Time{})
	if err != nil {
		return o, err
	}
	a := set.Of(sample)
	if a == nil {
		return o, c.actor.Denied(registrar.Editor, sample, sample.Key())
	}
	begin, ok := strings.CutSuffix(a.Prefix.Element(sample), "0")
	if !ok {
		return o, invalid
	}
	o = reserve.Options{Prefix: a.Prefix, Template: reserve.TemplateOf(a, begin), Count: 1, Why: why, Now: h.Now}
	if o.Template == "" {
		o.Template = begin + "{random:8}{check:noid}"
	}
	return o, nil
}

// maxAttempts is the maximum number of attempts to make a change while other clients change the
// same ARK.
const maxAttempts = 10

// update replaces all fields of an ARK.
func (h *Handler) update(c *call) error {
	f, err := readForm(c.r)
	if err != nil {
		return err
	}
	var n name.Name
	if err := f.check([]string{memberARK}, func(add func(string, string)) {
		fault := ""
		if f[memberARK] == "" {
			return
		}
		if n, fault = parseARK(f[memberARK]); fault != "" {
			add(memberARK, fault)
		}
	}); err != nil {
		return err
	}
	for range maxAttempts {
		if err = h.updateOnce(c, n, f); !errors.As(err, new(*store.ConflictError)) {
			break
		}
	}
	if err == nil {
		c.send(http.StatusOK, "text/html; charset=utf-8", "")
	}
	return err
}

func (h *Handler) updateOnce(c *call, n name.Name, f form) error {
	ctx := store.Fresh(c.r.Context())
	kept, err := h.Registrar.Kept(ctx, n, time.Time{})
	if err != nil {
		return err
	}
	if !h.Scope.Covers(kept) || !c.actor.MayName(kept, registrar.Editor) { // checked first, so that the response does not disclose whether the ARK exists
		return c.actor.Denied(registrar.Editor, kept, kept.Key())
	}
	rec, err := h.Store.Get(ctx, kept, time.Time{})
	switch {
	case err != nil:
		return err
	case rec.Status == nomen.Retired:
		return &invalidError{formErrors{{memberARK, "The ARK was retired."}}}
	}
	next := rec.Clone()
	set(next, f)
	_, err = h.Registrar.Put(ctx, c.actor, registrar.Request{Record: next, Expected: rec.Revision}, why)
	return err
}
