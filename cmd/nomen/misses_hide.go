package main

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nomen-project/nomen/misses"
	"github.com/nomen-project/nomen/name"
	"github.com/nomen-project/nomen/store"
)

const hideMissesLong = `Hide marks failed lookups that need no remedy, such as guesses of programs that search for
weaknesses. The page Failed lookups and 'nomen misses --visible' leave them out. They are
still counted. --undo shows them again.

Give each name as 'nomen misses' prints it. "-" stands for names on standard input, one per
line. The exit status is 1 if a name is not in the list of failed lookups.`

func (c *cli) hideMissesCommand() *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use:     "hide NAME...|-",
		Short:   "hide failed lookups that need no remedy",
		Long:    hideMissesLong,
		Example: "  nomen misses hide urn:dns:example.org:wp-login.php\n  nomen misses hide --undo urn:dns:example.org:wp-login.php",
		Args:    arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			hide := c.hider(cmd.Context())
			return c.answerNames(cmd.Context(), args, func(a *answers, arg string) error {
				n, err := name.Parse(arg)
				if err == nil {
					err = named(arg, hide(n, !undo))
				}
				if err != nil {
					a.refuse(err, badName{arg, explainAnswer(err)})
					return err
				}
				word := "hidden"
				if undo {
					word = "shown"
				}
				a.say(hiddenMiss{n.Key(), !undo}, n.Key()+": "+word)
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "show the names again")
	return cmd
}

type hiddenMiss struct {
	Name   string `json:"name"`
	Hidden bool   `json:"hidden"`
}

// hider returns a function that hides a failed lookup, or shows it again. The function changes the
// list of the running server. If no server is running, it changes the file that the last server has
// written.
func (c *cli) hider(ctx context.Context) func(n name.Name, hidden bool) error {
	api, err := c.server(ctx)
	if err != nil { // no server runs on the data directory
		return c.hideInFile
	}
	return func(n name.Name, hidden bool) error { return api.HideMiss(ctx, n, hidden) }
}

func (c *cli) hideInFile(n name.Name, hidden bool) error {
	file := filepath.Join(c.data, missesFile)
	list, totals, err := misses.Load(file)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(m misses.Miss) bool { return m.Name == n.Key() })
	if i < 0 {
		return store.ErrNotFound
	}
	list[i].Hidden = hidden
	return misses.Save(file, list, totals)
}
