"""The programs in CmdStan's folder `bin`, which its clients call: stanc, stansummary, diagnose; and build."""
