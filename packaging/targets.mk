# Targets of packages, for the Makefile of the root, which includes this file.

.PHONY: man deb rpm srpm packages package-reproducible package-test

## man: write the manual pages of all commands into build/man
man: bin/aucsched
	@export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || date +%s); \
	for program in $(notdir $(PROGRAMS)); do bin/$$program man-pages build/man || exit 1; done

## deb: make the Debian packages aucsched and, for the installed Slurm, aucsched-slurm, in build/packages
## rpm: the same as RPMs, for a Slurm where SchedMD's RPMs put it (SLURM_PREFIX=DIR; SLURM_PLUGINS=DIR)
## srpm: the source RPMs of both, with all Go modules
deb rpm srpm:
	@sh scripts/package.sh $@ cli && sh scripts/package.sh $@ slurm

## packages: deb, RPM and tarball of the commands alone, in build/packages (ARCH=arm64: for that, without HiGHS)
packages:
	@export ARCH="$(ARCH)"; for format in deb rpm tar; do sh scripts/package.sh $$format cli || exit 1; done

## package-reproducible: make all packages twice, in different directories, and compare their bytes (minutes)
package-reproducible:
	sh scripts/package-reproducible.sh

## package-test: install, upgrade, downgrade and remove deb and RPM beside a running slurmctld, in a chroot (as root; minutes)
package-test:
	sh scripts/package-test.sh
