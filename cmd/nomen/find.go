package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const findLong = `Find lists names by the words given by --text, or by the beginning of their locations.

With --text, find lists the names that have all the words: in the name, the title and other
metadata, the locations, other identifiers, or the reason of a tombstone. Case and diacritics
are ignored, and the last word may be incomplete. Find prints one line per name, sorted: the
name, a tab, the status, a tab and the first title. Without a server, find first builds the
search index in the data directory, or brings it up to date.

With --location, find lists the locations that begin with a text, and their names. The text is
compared byte by byte. Find prints one line per location: the location, a tab and the name.
The lines are sorted by location. Find also lists the locations of retired and reserved
names, but no locations of earlier revisions.

To read a long list in parts, pass the last line of a part to --after-location and
--after-name. The exit status is 1 if nothing is found.`

func (c *cli) findCommand() *cobra.Command {
	var prefix string
	var limit int
	var after struct{ location, name string }
	var words wordFlags
	cmd := &cobra.Command{
		Use:   "find --text WORDS | --location PREFIX",
		Short: "find names by words or by their locations",
		Long:  findLong,
		Example: `  nomen find --text 'archive berlin'
  nomen find --text zettel --prefix urn:nbn:de --status retired --limit 20
  nomen find --location https://old.example.org/
  nomen find --location https://old.example.org/ --limit 20 --json
  nomen find --location https://old.example.org/ | cut -f 2 | sort -u | nomen get --json -`,
		Args: noArguments,
	}
	f := cmd.Flags()
	f.StringVar(&prefix, "location", "", "beginning of the locations")
	limitOption(f, &limit, 0, "maximum number of lines (default all)")
	f.StringVar(&after.location, "after-location", "", "continue after the line with this location (default from the first line)")
	f.StringVar(&after.name, "after-name", "", "continue after the line with this name; with --location, after the line with this name and the location of --after-location")
	words.register(f)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("text") {
			return c.findWords(cmd, &words, limit, after.name)
		}
		switch {
		case words.prefix != "" || words.statuses != nil:
			return usagef("find: --prefix and --status need --text")
		case !cmd.Flags().Changed("location"):
			return usagef("find: --text or --location is required")
		case after.name != "" && after.location == "":
			return usagef("--after-name needs --after-location")
		}
		place := store.Place{URL: after.location}
		if after.name != "" {
			var err error
			if place.Name, err = name.Parse(after.name); err != nil {
				return err
			}
		}
		return c.withStore(cmd.Context(), reads, func(b backend) error {
			return c.find(cmd.Context(), b, prefix, place, limit)
		})
	}
	return cmd
}

type placeLine struct {
	Location string `json:"location"`
	Name     string `json:"name"`
}

func (c *cli) find(ctx context.Context, b backend, prefix string, after store.Place, limit int) error {
	a := newAnswers(c)
	found := 0
	for p, err := range b.Find(ctx, prefix, after) {
		if err != nil {
			a.flush()
			return err
		}
		a.say(placeLine{p.URL, p.Name.Key()}, printable(p.URL)+"\t"+printable(p.Name.Key()))
		if a.flushFull(); a.err != nil {
			return a.err
		}
		if found++; found == limit {
			break
		}
	}
	if err := a.end(); err != nil {
		return err
	}
	if found == 0 {
		fmt.Fprintf(c.err, "nomen: no name has a location that begins with %q\n", prefix)
		return errNo
	}
	return nil
}
