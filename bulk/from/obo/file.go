package obo

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

const maxFile = 4 << 20 // bytes of a file

type file struct {
	IDSpace      string                 `yaml:"idspace"`
	BaseURL      string                 `yaml:"base_url"`
	BaseRedirect yaml.Node              `yaml:"base_redirect"`
	Products     []map[string]yaml.Node `yaml:"products"`
	TermBrowser  yaml.Node              `yaml:"term_browser"`
	Examples     []yaml.Node            `yaml:"example_terms"`
	Entries      []entry                `yaml:"entries"`
	Tests        []test                 `yaml:"tests"`
	Other        map[string]yaml.Node   `yaml:",inline"`
}

type entry struct {
	Exact, Prefix, Regex yaml.Node
	Replacement          string
	Status               string
	Tests, Test          []test               // some files have test instead of tests
	Other                map[string]yaml.Node `yaml:",inline"`
	line, column         int
}

func (e *entry) UnmarshalYAML(n *yaml.Node) error {
	type plain entry
	if err := n.Decode((*plain)(e)); err != nil {
		return err
	}
	e.line, e.column = n.Line, n.Column
	return nil
}

// A test is a path below the base, with the expected location.
type test struct {
	From, To     string
	line, column int
}

func (t *test) UnmarshalYAML(n *yaml.Node) error {
	type plain test
	if err := n.Decode((*plain)(t)); err != nil {
		return err
	}
	t.line, t.column = n.Line, n.Column
	return nil
}

func readFile(r io.Reader) (*file, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxFile:
		return nil, fmt.Errorf("longer than %d bytes", maxFile)
	}
	var f file
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&f); err != nil {
		return nil, err
	}
	if f.IDSpace == "" || f.BaseURL == "" || f.BaseURL[0] != '/' {
		return nil, errors.New("must have idspace, and base_url with the path of the ontology, such as /obo/go")
	}
	return &f, nil
}
