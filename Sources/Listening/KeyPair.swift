import NIOSSL

/// A certificate and a private key, as files in PEM format.
package struct KeyPair: Sendable {
    private let certificate: String
    private let key: String

    package init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// Whether the key certainly belongs to another certificate. What cannot be read, or is of a kind that this library does
    /// not know, is not checked here.
    package var isMismatched: Bool {
        guard let chain = try? NIOSSLCertificate.fromPEMFile(certificate), let leaf = chain.first,
            let key = try? NIOSSLPrivateKey(file: key, format: .pem)
        else { return false }
        var alone = TLSConfiguration.makeClientConfiguration()
        alone.trustRoots = .certificates([])
        var certificateAlone = alone
        var together = alone
        alone.privateKey = .privateKey(key)
        certificateAlone.certificateChain = [.certificate(leaf)]
        together.privateKey = alone.privateKey
        together.certificateChain = certificateAlone.certificateChain
        return Self.isAccepted(alone) && Self.isAccepted(certificateAlone) && !Self.isAccepted(together)
    }

    private static func isAccepted(_ configuration: TLSConfiguration) -> Bool {
        (try? NIOSSLContext(configuration: configuration)) != nil
    }
}
