# Sourced by the scripts beside this file: Debian's packages, unpacked and not installed.

# The full version of a package that is VERSION, say `1.85.0+dfsg3-1`; fails where there is none.
debian_version() { # PACKAGE VERSION
    apt-cache madison "$1" 2>/dev/null |
        awk -v wanted="$2." '!found && index($3, wanted) == 1 { print found = $3 } END { exit !found }'
}

# Unpacks packages and those that they need and the system lacks, and prints how many bytes were
# downloaded. Works for any user, and leaves the system as it is.
unpack() { # DIRECTORY PACKAGE[=VERSION]...
    local into=$1 archives=$1/archives
    shift
    rm -rf "$archives" && mkdir -p "$archives/partial" || return 1
    apt-get install --download-only --yes -qq --no-install-recommends --reinstall --allow-downgrades \
        -o Debug::NoLocking=1 -o APT::Sandbox::User= -o Dir::Cache::archives="$archives" "$@" >&2 || return 1
    for package in "$archives"/*.deb; do dpkg -x "$package" "$into" || return 1; done
    cat "$archives"/*.deb | wc -c
    rm -rf "$archives"
}
