package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nomen-project/nomen/store"
)

// fileTables contains the tables of a configuration file that are not options of serve, such as
// [[listen]]. The tables are decoded by go-toml, which rejects unknown keys. To report an error
// about a value together with its position in the file, use:
//
//	return c.file.errorf("listen.2.address", "invalid address %q", address)
//
// A table that only groups options, such as [backup], does not have a field in fileTables. Its keys
// are options of serve with a dot in the name, such as "backup.every". The configuration file, the
// environment (NOMEN_BACKUP_EVERY), 'nomen config' and reloads treat these options like all others.
// Only the help text of the command omits them.
type fileTables struct {
	Authority []*store.Authority
	Listen    []listenTable
	OIDC      []oidcTable
	Dialect   []dialectTable
}

func tableNames() map[string]bool {
	return map[string]bool{"authority": true, "listen": true, "oidc": true, "dialect": true}
}

// A configFile is a parsed configuration file. A nil configFile is equivalent to an empty file.
type configFile struct {
	path    string
	tables  fileTables
	options map[string][]string  // the values of the options
	places  map[string]filePlace // places of the values by their path: "listen", "authority.1.rules.2.match"
	keys    map[string]filePlace // places of the keys by the same paths
	texts   []string             // all keys, and all values that are text, including invalid ones
}

type filePlace struct{ line, column int }

// readConfigFile reads and parses a configuration file. The map known contains the names of the
// options that a file can set. The error is a usage error that joins all errors in the file, each
// with its position. Even if there are errors, the result contains all valid keys and values. If
// the file is not valid TOML, the result is nil.
func readConfigFile(path string, known map[string]bool) (*configFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usageError{err}
	}
	return parseConfig(path, text, known)
}

func parseConfig(path string, text []byte, known map[string]bool) (*configFile, error) {
	f := &configFile{path: path, options: map[string][]string{}}
	var all map[string]any
	layout := readLayout(text)
	if err := toml.Unmarshal(text, &all); err != nil {
		return nil, cmp.Or(f.listenedTwice(layout), f.decodeError(err))
	}
	f.places, f.keys, f.texts = layout.values, layout.keys, textsOf(all)
	errs := f.decodeTables(layout, known)
	for key, value := range flatKeys(all, known) {
		values, err := optionValues(value)
		switch {
		case !known[key] && hasTable(known, key):
			errs = append(errs, f.errorf(key, "%s: must be a table", key))
		case !known[key]:
			errs = append(errs, f.errorAt(f.keys[key], "unknown key %q%s", key, meant(key, maps.Keys(known))))
		case err != nil:
			errs = append(errs, f.errorf(key, "%s: %w", key, err))
		default:
			f.options[key] = values
		}
	}
	return f, f.sorted(errs)
}

func (f *configFile) listenedTwice(layout *fileLayout) error {
	isOption := slices.ContainsFunc(layout.pairs, func(p pair) bool { return p.path == "listen" && p.plain })
	isTable := slices.ContainsFunc(layout.pairs, func(p pair) bool { return (p.path == "listen" || p.path == "listen.1") && !p.plain })
	if !isOption || !isTable {
		return nil
	}
	return f.errorAt(layout.keys["listen"], "listen is both an option and a table; remove the option, and add a [[listen]] table with its value as address")
}

func textsOf(value any) (all []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			all = append(all, textsOf(e)...)
		}
	case map[string]any:
		for key, e := range v {
			all = append(append(all, key), textsOf(e)...)
		}
	}
	return all
}

// flatKeys returns the values of the options in a file by name. A key in a table that only groups
// options becomes an option with the name TABLE.KEY.
func flatKeys(all map[string]any, known map[string]bool) map[string]any {
	flat := map[string]any{}
	for key, value := range all {
		table, isTable := value.(map[string]any)
		switch {
		case tableNames()[key] && !isOption(value, known[key]):
		case isTable && hasTable(known, key):
			for name, v := range table {
				flat[key+"."+name] = v
			}
		default:
			flat[key] = value
		}
	}
	return flat
}

func hasTable(known map[string]bool, table string) bool {
	for name := range known {
		if strings.HasPrefix(name, table+".") {
			return true
		}
	}
	return false
}

// isOption reports whether a value is the value of an option, as opposed to a table or a list of
// tables. The parameter known reports whether there is an option with the same key.
func isOption(value any, known bool) bool {
	switch v := value.(type) {
	case map[string]any:
		return false
	case []any:
		return known && (len(v) == 0 || !isTable(v[0]))
	}
	return known
}

func isTable(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// decodeTables decodes the tables of the file. If a value is invalid, decodeTables removes the
// value from the text and decodes the text again, so that it finds all errors.
func (f *configFile) decodeTables(layout *fileLayout, known map[string]bool) []error {
	text := layout.tablesOnly(tableNames(), known)
	var errs []error
	for {
		f.tables = fileTables{}
		d := toml.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		err := d.Decode(&f.tables)
		var strict *toml.StrictMissingError
		var decode *toml.DecodeError
		switch {
		case errors.As(err, &strict):
			errs = append(errs, f.unknownKeys(strict, known)...)
		case errors.As(err, &decode):
			errs = append(errs, f.decodeError(err))
			if line, column := decode.Position(); layout.erasePair(text, filePlace{line, column}) {
				continue
			}
		case err != nil:
			errs = append(errs, f.decodeError(err))
		}
		break
	}
	if len(errs) > 0 {
		return errs
	}
	for i, a := range f.tables.Authority {
		if a.Prefix.IsZero() {
			errs = append(errs, f.errorf(fmt.Sprintf("authority.%d", i+1), "authority %d: prefix is missing", i+1))
		}
	}
	return errs
}

func (f *configFile) unknownKeys(strict *toml.StrictMissingError, known map[string]bool) []error {
	var errs []error
	for _, e := range strict.Errors {
		line, column := e.Position()
		remedy := ""
		if key := e.Key(); known[key[len(key)-1]] {
			remedy = "; if it is the option, move it above the first table"
		}
		errs = append(errs, f.errorAt(filePlace{line, column}, "unknown key %q%s", strings.Join(e.Key(), "."), remedy))
	}
	return errs
}

type placeError struct {
	file string
	at   filePlace
	error
}

func (e placeError) Unwrap() error { return e.error }

func (e placeError) place() string {
	if e.at == (filePlace{}) {
		return e.file + ": "
	}
	return fmt.Sprintf("%s:%d:%d: ", e.file, e.at.line, e.at.column)
}

func (f *configFile) errorAt(at filePlace, format string, args ...any) error {
	e := placeError{f.path, at, nil}
	e.error = usagef("%s%w", e.place(), fmt.Errorf(format, args...))
	return e
}

// errorf returns a usage error with the position of a value in the file. A path has the form
// "listen.2.address". If the file does not contain the value, the error has the position of the
// innermost enclosing table that exists.
func (f *configFile) errorf(path, format string, args ...any) error {
	return f.errorAt(f.place(path), format, args...)
}

// about adds the position of a value in the file to err.
func (f *configFile) about(path string, err error) error {
	at := f.place(path)
	return fmt.Errorf("%s:%d:%d: %w", f.path, at.line, at.column, err)
}

func (f *configFile) authorities() []*store.Authority {
	if f == nil {
		return nil
	}
	return f.tables.Authority
}

func (f *configFile) listen() []listenTable {
	if f == nil {
		return nil
	}
	return f.tables.Listen
}

// place returns the position of the value with a path. If the file does not contain the value, the
// result is the position of the innermost enclosing table that exists.
func (f *configFile) place(path string) filePlace {
	for {
		if at, ok := f.places[path]; ok {
			return at
		}
		last := strings.LastIndexByte(path, '.')
		if last < 0 {
			return filePlace{}
		}
		path = path[:last]
	}
}

func (f *configFile) sorted(errs []error) error {
	slices.SortStableFunc(errs, func(a, b error) int {
		var x, y placeError
		errors.As(a, &x)
		errors.As(b, &y)
		return cmp.Or(cmp.Compare(x.at.line, y.at.line), cmp.Compare(x.at.column, y.at.column))
	})
	return errors.Join(errs...)
}

func (f *configFile) decodeError(err error) error {
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, column := decode.Position()
		return f.errorAt(filePlace{line, column}, "%s", decodeFault(decode))
	}
	return f.errorAt(filePlace{}, "%w", err)
}

func decodeFault(e *toml.DecodeError) string {
	message := strings.TrimPrefix(e.Error(), "toml: ")
	key := strings.Join(e.Key(), ".")
	if key == "" {
		key = "the value"
	}
	if kind, ok := strings.CutPrefix(message, "cannot decode TOML "); ok {
		kind, _, _ = strings.Cut(kind, " into ")
		article := " cannot be a "
		if kind != "" && strings.IndexByte("aeiou", kind[0]) >= 0 {
			article = " cannot be an "
		}
		return key + article + kind
	}
	if strings.HasPrefix(message, "cannot store ") {
		return key + " cannot be a table"
	}
	return message
}

func optionValues(v any) ([]string, error) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	values := make([]string, len(list))
	for i, e := range list {
		switch e.(type) {
		case string, bool, int64, float64:
			values[i] = fmt.Sprint(e)
		default:
			return nil, errors.New("expected a string, a number, true or false, or a list of these")
		}
	}
	return values, nil
}
