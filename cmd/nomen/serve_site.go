package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/nomen-project/nomen/site"
)

type siteFlags struct {
	site.Settings
	logo  string // file
	links []string
}

func (o *siteFlags) register(f *pflag.FlagSet) {
	f.StringVar(&o.Name, "site.name", "", "name of the institution or service, for the public pages (default Persistent names)")
	f.StringVar(&o.logo, "site.logo", "", "PNG or SVG file, shown beside the name (default none)")
	f.StringVar(&o.Light.Accent, "site.accent", "", "colour of links and buttons (default #0b4f9e)")
	f.StringVar(&o.Light.Background, "site.background", "", "colour of the background (default #ffffff)")
	f.StringVar(&o.Dark.Accent, "site.accent-dark", "", "colour of links and buttons for readers who prefer dark pages (default #8ab8f5)")
	f.StringVar(&o.Dark.Background, "site.background-dark", "", "colour of the background for these readers (default #161616)")
	f.StringVar(&o.Footer, "site.footer", "", "sentence at the end of each page (default none)")
	f.StringArrayVar(&o.links, "site.links", nil, "links at the end of each page, each a text, a space and a URL (default none)")
	f.StringVar(&o.Contact, "site.contact", "", "URL at which readers reach you, such as mailto:names@example.org (default none)")
}

const maxLogoFile = 1 << 20

func (o *siteFlags) readLogo() ([]byte, error) {
	if o.logo == "" {
		return nil, nil
	}
	info, err := os.Stat(o.logo)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: must be a file", o.logo)
	}
	file, err := os.Open(o.logo)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxLogoFile))
	if err == nil && len(b) == 0 {
		err = fmt.Errorf("%s: the file is empty", o.logo)
	}
	return b, err
}

func (o *siteFlags) site() (*site.Site, error) {
	s := o.Settings
	var errs []error
	var err error
	if s.Logo, err = o.readLogo(); err != nil {
		errs = append(errs, usagef("serve: --site.logo: %w", err))
	}
	for _, text := range o.links {
		l, err := site.ParseLink(text)
		if err != nil {
			errs = append(errs, siteError(err))
			continue
		}
		s.Links = append(s.Links, l)
	}
	out, err := site.New(s)
	for _, err := range flatten(err) {
		errs = append(errs, siteError(err))
	}
	return out, errors.Join(errs...)
}

func siteError(err error) error { return usagef("serve: --site.%w", err) }
