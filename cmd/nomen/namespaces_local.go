package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/urn"
)

const registryHelp = `--registry names a file of entries of your own, which are known beside those of
the documents, or in their place: a JSON object with any of the members
"namespaces", "scheme_ids", "keywords" and "services", each an array of entries
with the fields that --json shows.`

// maxRegistry bounds the file of a registry, in bytes.
const maxRegistry = 16 << 20

// registries are those of the documents, and what a site adds to them.
type registries struct {
	namespaces urn.Namespaces
	local      []urn.Namespace // those that the site added
	schemeIDs  urn.SchemeIDs
	keywords   urn.Keywords
	services   urn.Services
}

// addRegistry defines the flag --registry of a command.
func addRegistry(cmd *cobra.Command) *string {
	return cmd.Flags().String("registry", "", "file of further registry entries, in JSON")
}

// readRegistries returns the registries of the documents with those of a file,
// if there is one.
func readRegistries(file string) (registries, error) {
	r := registries{
		namespaces: urn.IANANamespaces(), schemeIDs: urn.SchemeIDs1995(),
		keywords: urn.Keywords2012(), services: urn.Services2012(),
	}
	if file == "" {
		return r, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return r, err
	}
	defer f.Close()
	if err := r.add(io.LimitReader(f, maxRegistry)); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// add adds the entries that a text has. All are good, or none is added.
func (r *registries) add(text io.Reader) error {
	var own struct {
		Namespaces []urn.Namespace `json:"namespaces"`
		SchemeIDs  []urn.SchemeID  `json:"scheme_ids"`
		Keywords   []urn.Keyword   `json:"keywords"`
		Services   []urn.Service   `json:"services"`
	}
	d := json.NewDecoder(text)
	d.DisallowUnknownFields()
	if err := d.Decode(&own); err != nil {
		at := d.InputOffset()
		if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
			at = max(bad.Offset-1, 0) // it counts the byte that was wrong
		}
		return fmt.Errorf("offset %d: %w", at, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("offset %d: more than one object, or too long", d.InputOffset())
	}
	namespaces, err := r.namespaces.With(own.Namespaces...)
	if err != nil {
		return err
	}
	schemeIDs, err := r.schemeIDs.With(own.SchemeIDs...)
	if err != nil {
		return err
	}
	keywords, err := r.keywords.With(own.Keywords...)
	if err != nil {
		return err
	}
	services, err := r.services.With(own.Services...)
	if err != nil {
		return err
	}
	*r = registries{namespaces, own.Namespaces, schemeIDs, keywords, services}
	return nil
}

// inspector returns what inspects URNs with the registries.
func (r registries) inspector() urn.Inspector {
	return urn.Inspector{Namespaces: r.namespaces, SchemeIDs: r.schemeIDs, Keywords: r.keywords, Services: r.services}
}
