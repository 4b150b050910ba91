"""Where flexible bodies come from: beams, plates and finite-element matrices in modal form.

Plain NumPy, SciPy and scikit-fem; everything here runs once, when a model is loaded. Each source
ends in a `ModalBody`: named nodes with their mode shapes, the modal stiffness, and the integrals
of the distributed mass (docs/structures.md).
"""
