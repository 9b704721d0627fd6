package main

import "strings"

type optionClass uint8

const (
	unclassified optionClass = iota
	live                     // a reload changes it
	restart                  // a change needs a restart
	ofCommand                // only for the command line; not part of the configuration
)

// optionClasses returns the options of serve by class. Each option is in exactly one class.
func optionClasses() map[optionClass]string {
	return map[optionClass]string{
		live: `answer-cache public-url host trusted-proxy registry no-access-log drain
			connections connections-per-address rate asks allow-private
			country-db country-header ask-others proxy own-users connect
			table public-table dns default-resolver public-metrics
			sign-in.contact sign-in.idle sign-in.absolute sign-in.header sign-in.proxies
			site.name site.logo site.accent site.background site.accent-dark site.background-dark site.footer site.links site.contact
			limits.burst limits.costly limits.resources limits.batch-names limits.batch-bytes
			limits.measure-timeout limits.ask-timeout limits.resource-timeout
			limits.token-rate limits.token-burst limits.token-jobs limits.jobs
			second-person.redact second-person.relocate-above
			backup.to backup.every backup.at backup.keep backup.keep-weekly backup.rehearse backup.hook backup.hook-timeout`,
		restart: `listen admin gopher gopher-host tls tls-cert tls-key
			acme-email acme-directory acme-root acme-eab-id acme-eab-key-file acme-accept-terms acme-unchecked
			log-format access-log-addresses data store memory no-counts read-only scrub search
			links.check links.contact links.own links.probe links.proxy links.availability links.timegate links.archive-host
			log.key log.entries log.content log.witness log.quorum log.timeout
			reports.to reports.contacts reports.from reports.smtp reports.smtp-user reports.smtp-password-file reports.sendmail
			reports.webhook reports.webhook-secret-file
			stale-if-error clock-ok demo
			sign-in.url sign-in.ca
			limits.head-timeout limits.idle-timeout limits.timeout`,
		ofCommand: `config help json running verbose`,
	}
}

func classOf(option string) optionClass {
	for class, options := range optionClasses() {
		for name := range strings.FieldsSeq(options) {
			if name == option {
				return class
			}
		}
	}
	return unclassified
}
