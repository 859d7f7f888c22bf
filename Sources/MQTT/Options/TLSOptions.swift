/// Certificates for encrypted connections: paths of PEM files.
package struct TLSOptions: Sendable, Hashable {
    /// The trusted authorities; those of the operating system when `nil`.
    package var caFile: String?
    /// This client's certificate, if the broker wants one.
    package var certificateFile: String?
    /// The private key of `certificateFile`, without a passphrase.
    package var keyFile: String?
    /// Whether the broker's certificate must name the connected host. Without the check, anyone with any certificate
    /// of the same authority can eavesdrop.
    package var checksHostname: Bool

    /// Certificates; the operating system's authorities and no client certificate by default.
    package init(
        caFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil, checksHostname: Bool = true
    ) {
        self.caFile = caFile
        self.certificateFile = certificateFile
        self.keyFile = keyFile
        self.checksHostname = checksHostname
    }
}
