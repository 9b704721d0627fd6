// Mapserver redirects from a map in memory with net/http, for comparison:
//
//	mapserver ADDRESS FILE
//
// The file is what nomen export --format apache-map writes.
package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mapserver: "+err.Error())
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%d arguments: want an address and a file", len(args))
	}
	locations, err := read(args[1])
	if err != nil {
		return err
	}
	return http.ListenAndServe(args[0], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, ok := locations[r.RequestURI]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Location", to)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusSeeOther)
		fmt.Fprintf(w, "%s\r\n", to)
	}))
}

// read reads the lines of a map without comments, which begin with #.
func read(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	locations := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if path, to, ok := strings.Cut(lines.Text(), " "); ok && path != "#" {
			locations[path] = to
		}
	}
	return locations, lines.Err()
}
