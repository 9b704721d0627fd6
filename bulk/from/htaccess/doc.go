// Package htaccess imports redirects of Apache httpd from .htaccess files, such as those of
// w3id.org. Each directory with such a file becomes a naming authority with rules.
//
// # What is imported
//
// The package imports RewriteRule, RewriteCond and RewriteBase of mod_rewrite, Redirect and
// RedirectMatch of mod_alias, and ErrorDocument with a URL. Rules keep their order, conditions,
// status and treatment of the query. A directive that has no effect on redirects, such as AddType,
// counts as handled. All other directives are refused, each with the reason.
//
// # How rules are read
//
// The specification is the documentation of Apache httpd 2.4 and its behaviour:
//
//   - A pattern is matched with the decoded path below the directory, without a leading slash.
//   - The conditions before a rule apply to this rule only. "%1" is a group of the last condition
//     that matched.
//   - The target is percent-encoded, unless the flag NE is set, so "#" begins a fragment only with
//     NE.
//   - If the target has no "?", or with QSA, the query of the request is appended.
//   - The rules of a deeper directory replace those of the directories above it.
//
// Rules that rewrite a path to another path of the same server without a redirect, that set
// variables, or whose host depends on the request, are refused.
package htaccess
