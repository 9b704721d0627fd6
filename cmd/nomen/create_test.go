package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// This test runs every command with a data directory that has no store. Only the commands that are
// meant to create a store create one. The test fails if a command is missing in its tables.
func TestOnlySomeCommandsMakeStores(t *testing.T) {
	t.Parallel()
	const n, file = "urn:example:a", "$TMP/names.csv"
	makes := map[string]string{
		"put":           n + " https://example.org/a",
		"authority put": "urn:example --owner a --owner b",
		"import":        file,
		"mint":          "--template {seq} urn:example",
		"serve":         "--listen 127.0.0.1:0 --admin 127.0.0.1:0",
	}
	// Each of these fails or answers, and leaves the directory as it was.
	leaves := map[string][]string{
		"import":           {"--dry-run " + file, "$TMP/none.csv", file + " $TMP/none.csv"},
		"mint":             {"--dry-run --template {seq} urn:example"},
		"get":              {n},
		"retire":           {n + " --reason gone", "--reason gone -"},
		"history":          {n, "--authority urn:example"},
		"redact":           {n + " --revision 1 --reason x --yes", "--authority urn:example --reason x --yes"},
		"find":             {"--location https://example.org/"},
		"relocate":         {"https://a.example/ https://b.example/", "--dry-run https://a.example/ https://b.example/"},
		"misses":           {"", "--clear --yes"},
		"verify":           {""},
		"reload":           {""},
		"sign-in-link":     {""},
		"user sign-out":    {"", "u-00000000"},
		"config check":     {""},
		"config show":      {""},
		"config explain":   {"rate"},
		"doctor":           {"", "--public-url http://127.0.0.1:1"},
		"health":           {"http://127.0.0.1:1", "--live unix:$TMP/none"},
		"backup":           {"$TMP/backup", "--rehearse $TMP/backup"},
		"backup status":    {""},
		"backup list":      {""},
		"restore":          {"$TMP/none", "--rehearse $TMP/none"},
		"handover export":  {"$TMP/out"},
		"handover check":   {"$TMP/none", "$TMP/names.csv"},
		"handover import":  {"--to pebble:$DATA/store $TMP/none", "--to pebble:$DATA/store $TMP/names.csv"},
		"migrate":          {"--from pebble:$TMP/none --to pebble:$DATA/store"},
		"rekey":            {"", "--dry-run"},
		"export":           {"", "--output $TMP/out.jsonl"},
		"authority check":  {"urn:example", "-"},
		"misses hide":      {n},
		"log key new":      {"--name a.example/-/log $TMP/log.key"},
		"log export":       {"$TMP/log"},
		"log resume":       {"--accept-rollback --key $TMP/none"},
		"log watch":        {"--once --key a+b+c --state $TMP/state http://127.0.0.1:1"},
		"audit":            {"--key a+b+c http://127.0.0.1:1"},
		"witness serve":    {"", "--key $TMP/none --log a+b+c"},
		"proof get":        {n},
		"proof check":      {"--key a+b+c $TMP/none"},
		"proof absent":     {n},
		"links status":     {""},
		"links list":       {"", "--verdict suspect"},
		"links check":      {n},
		"links ignore":     {n},
		"links suggest":    {n},
		"links accept":     {n + " https://archive.example/1"},
		"links export":     {""},
		"links report":     {""},
		"stats names":      {"", "--fresh"},
		"stats links":      {""},
		"stats report":     {"", "--month 2026-10 --csv"},
		"stats changes":    {"", "--month 2026-10"},
		"authority get":    {"urn:example"},
		"authority list":   {""},
		"authority known":  {""},
		"authority test":   {"urn:example"},
		"token make":       {"--who x", "--who x --output $TMP/token"},
		"token list":       {""},
		"token revoke":     {"ID"},
		"token redact":     {"ID --reason x --yes"},
		"user add":         {"--name x"},
		"user list":        {""},
		"user show":        {"ID"},
		"user change":      {"ID --name x"},
		"user grant":       {"ID --role reader"},
		"user revoke":      {"ID --role reader"},
		"user disable":     {"ID"},
		"user enable":      {"ID"},
		"user history":     {"ID"},
		"user redact":      {"ID --reason x --yes"},
		"resolve":          {"--explain " + n},
		"serve":            {"--tls-cert x"},
		"put":              {"nonsense https://example.org/", n + " --type text/html"},
		"version":          {""},
		"jobs list":        {""},
		"jobs show":        {"ID"},
		"jobs cancel":      {"ID"},
		"jobs approve":     {"ID"},
		"jobs reject":      {"--reason", "x", "ID"},
		"jobs wait":        {"ID"},
		"undo":             {"--change 1", "--import 0-abcdefgh", "--dry-run --change 1..9"},
		"changes":          {"", "--import 0-abcdefgh"},
		"delete":           {n},
		"authority delete": {"urn:example"},
	}
	storeless := strings.Fields("crawl discover fetch extract zone man schemes namespaces services help completion check compare join normalize parse relativize conform replay")
	var commands []string
	eachCommand((&cli{}).root(), func(cmd *cobra.Command) {
		path := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "nomen"), " ")
		if first, _, _ := strings.Cut(path, " "); path == "" || cmd.HasSubCommands() && path != "backup" || slices.Contains(storeless, first) {
			return
		}
		if commands = append(commands, path); leaves[path] == nil && makes[path] == "" {
			t.Errorf("nomen %s: not in the table of what makes a store", path)
		}
	})
	try := func(t *testing.T, empty string, command, args string) (made bool, said string) {
		t.Helper()
		tmp := t.TempDir()
		data := filepath.Join(tmp, "data")
		if err := os.WriteFile(filepath.Join(tmp, "names.csv"), []byte("name,url\nurn:example:a,https://example.org/a\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if empty != "" {
			if err := os.MkdirAll(filepath.Join(tmp, empty), 0o750); err != nil {
				t.Fatal(err)
			}
		}
		before := tree(t, data)
		args = strings.NewReplacer("$TMP", tmp, "$DATA", data).Replace(args)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var out bytes.Buffer
		errs := untilListening{stop: cancel}
		run(ctx, append(append(strings.Fields(command), "--data", data), strings.Fields(args)...), streams{in: strings.NewReader("urn:example:a\n"), out: &out, err: &errs})
		return !slices.Equal(tree(t, data), before), out.String() + errs.text.String()
	}
	for _, empty := range []string{"", "data", "data/store"} {
		for _, command := range commands {
			for _, args := range leaves[command] {
				if made, said := try(t, empty, command, args); made {
					t.Errorf("nomen %s %s, with an empty %q: made something\n%s", command, args, empty, said)
				}
			}
			if args := makes[command]; args != "" {
				if made, said := try(t, empty, command, args); !made || !strings.Contains(said, "created a new store") {
					t.Errorf("nomen %s %s, with an empty %q: made %t\n%s", command, args, empty, made, said)
				}
			}
		}
	}
}

// An untilListening keeps what a server logs, and calls stop when the server listens.
type untilListening struct {
	mu   sync.Mutex
	text strings.Builder
	stop context.CancelFunc
}

func (u *untilListening) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.text.Write(p)
	if strings.Contains(u.text.String(), "admin listener at") {
		u.stop()
	}
	return len(p), nil
}

// tree returns the paths of all that is below dir.
func tree(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
